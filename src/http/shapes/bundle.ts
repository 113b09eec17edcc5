import { type Static, Type } from "typebox";

import type { RawBundle } from "../../service/write-bundles.ts";
import type { Bundle } from "../../store/bundle.ts";
import { listField, textField, textListField, textMapField } from "./field.ts";

const bundleShape = {
  name: textField(),
  arguments: textListField(),
  operations: listField({
    relationships_write: textListField(),
    relationships_delete: textListField(),
    attributes_write: textListField(),
    attributes_delete: textListField(),
  }),
};

export const writeBundlesBody = Type.Object({ bundles: listField(bundleShape) });

/** Of bundle/read and bundle/delete. */
export const namedBundleBody = Type.Object({ name: textField() });

export const runBundleBody = Type.Object({ name: textField(), arguments: textMapField() });

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

export function encodeBundle(bundle: Bundle): object {
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
