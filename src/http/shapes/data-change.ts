import { type Static, Type } from "typebox";

import { type ChangeDataRequest, filtersMax } from "../../service/change-data.ts";
import {
  attributesField,
  decodeAttributes,
  entitiesField,
  attributeFiltersField,
  metadataWithVersion,
  tupleField,
  tupleFiltersField,
  tuplesField,
} from "./data.ts";
import { booleanField, listField, objectField, textField } from "./field.ts";

const preconditionShape = {
  tuple: tupleField({ description: "The tuple that must exist, or must not." }),
  exists: booleanField({ description: "Belongs to `tuple`, and is required then." }),
  snap_token: textField({
    description: "The state since which nothing of the tenant's data may have changed.",
  }),
  unchanged: booleanField({ description: "Belongs to `snap_token`: `true`." }),
};

export const changeDataBody = Type.Object({
  metadata: metadataWithVersion({}),
  preconditions: listField(preconditionShape, {
    description: "If one of them does not hold, nothing is changed and the status is 412.",
    of: { component: "Precondition" },
  }),
  write: objectField(
    { tuples: tuplesField(), attributes: attributesField() },
    { description: "Is written after the deletes." },
  ),
  delete: objectField(
    {
      tuple_filters: tupleFiltersField({
        description: "Deletes the tuples that match one of them. None may be empty.",
        maxItems: filtersMax,
      }),
      attribute_filters: attributeFiltersField({
        description: "Deletes the attributes that match one of them. None may be empty.",
        maxItems: filtersMax,
      }),
      entities: entitiesField({
        description:
          "Deletes all about them: tuples with one of them as entity or subject, and their attributes.",
      }),
    },
    { description: "Is deleted first." },
  ),
});

/** The body in the form of the service. */
export function decodeChange(
  body: Static<typeof changeDataBody>,
): Omit<ChangeDataRequest, "tenantId"> {
  const { metadata, preconditions, write } = body;
  return {
    metadata: metadata && { schemaVersion: metadata.schema_version },
    preconditions: preconditions?.map(({ snap_token: snapToken, ...rest }) => ({
      ...rest,
      snapToken,
    })),
    write: write && {
      tuples: write.tuples,
      attributes: decodeAttributes(write.attributes, "write.attributes"),
    },
    delete: body.delete && {
      tupleFilters: body.delete.tuple_filters,
      attributeFilters: body.delete.attribute_filters,
      entities: body.delete.entities,
    },
  };
}
