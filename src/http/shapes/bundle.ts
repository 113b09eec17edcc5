import { type Static, Type } from "typebox";

import { argumentPattern, type RawBundle } from "../../service/bundles.ts";
import type { Bundle } from "../../store/bundle.ts";
import { nextPage, textsAnswer } from "./answer.ts";
import { listField, textListField, textMapField } from "./field.ts";
import { bundleNameField, textRule } from "./value-fields.ts";

const templates = (what: string): ReturnType<typeof textListField> =>
  textListField({ description: `Templates of ${what}.`, of: textRule });

const bundleShape = {
  name: bundleNameField({ required: true }),
  arguments: textListField({
    description: "The variables that the templates may name, as `{{.name}}`.",
    of: { pattern: argumentPattern },
  }),
  operations: listField(
    {
      relationships_write: templates("tuples to write, as `document:1#viewer@user:{{.name}}`"),
      relationships_delete: templates("tuples to delete"),
      attributes_write: templates("attributes to write, as `document:1$public|boolean:true`"),
      attributes_delete: templates("attributes to delete"),
    },
    { description: "Applied in their order; in one of them writes come before deletes." },
  ),
};

export const writeBundlesBody = Type.Object({
  bundles: listField(bundleShape, { required: true, minItems: 1, of: { component: "Bundle" } }),
});

/** The body of bundle/read and bundle/delete. */
export const namedBundleBody = Type.Object({ name: bundleNameField({ required: true }) });

export const runBundleBody = Type.Object({
  name: bundleNameField({ required: true }),
  arguments: textMapField({
    description: "A value for each variable that the bundle declares, and for no other.",
    required: true,
    of: textRule,
  }),
});

const bundleAnswer = Type.Object(
  {
    name: Type.String(),
    arguments: textsAnswer(),
    operations: Type.Array(
      Type.Object({
        relationships_write: textsAnswer(),
        relationships_delete: textsAnswer(),
        attributes_write: textsAnswer(),
        attributes_delete: textsAnswer(),
      }),
    ),
  },
  { about: { component: "StoredBundle" } },
);

export const writeBundlesAnswer = Type.Object({
  names: textsAnswer({ description: "Of the bundles, in their order." }),
});
export const readBundleAnswer = Type.Object({ bundle: bundleAnswer });
export const listBundlesAnswer = Type.Object({
  names: textsAnswer({ description: "Ascending by their bytes in UTF-8." }),
  continuous_token: nextPage,
});
export const deleteBundleAnswer = Type.Object({ name: Type.String() });

export function decodeBundle(
  bundle: Static<ReturnType<typeof Type.Object<typeof bundleShape>>>,
): RawBundle {
  return {
    name: bundle.name,
    arguments: bundle.arguments,
    operations: bundle.operations?.map((operation) => ({
      relationshipsWrite: operation.relationships_write,
      relationshipsDelete: operation.relationships_delete,
      attributesWrite: operation.attributes_write,
      attributesDelete: operation.attributes_delete,
    })),
  };
}

export function encodeBundle(bundle: Bundle): Static<typeof bundleAnswer> {
  return {
    name: bundle.name,
    arguments: bundle.arguments,
    operations: bundle.operations.map((operation) => ({
      relationships_write: operation.relationshipsWrite,
      relationships_delete: operation.relationshipsDelete,
      attributes_write: operation.attributesWrite,
      attributes_delete: operation.attributesDelete,
    })),
  };
}
