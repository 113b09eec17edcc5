import { type Static, Type } from "typebox";

import type { RawAttribute } from "../../service/request-data.ts";
import { decodeAny } from "./any.ts";
import { jsonField, listField, objectField, textField } from "./field.ts";

export const entityShape = { type: textField(), id: textField() };
export const subjectShape = { type: textField(), id: textField(), relation: textField() };

export const tupleShape = {
  entity: objectField(entityShape),
  relation: textField(),
  subject: objectField(subjectShape),
};

const attributeProperties = {
  entity: objectField(entityShape),
  attribute: textField(),
  value: jsonField(),
};
export const attributeShape = attributeProperties;
type AttributeBody = Static<ReturnType<typeof Type.Object<typeof attributeProperties>>>;

export const writeDataBody = Type.Object({
  metadata: objectField({ schema_version: textField() }),
  tuples: listField(tupleShape),
  attributes: listField(attributeShape),
});

export const writeRelationshipsBody = Type.Object({
  metadata: objectField({ schema_version: textField() }),
  tuples: listField(tupleShape),
});

/** Reads the values of attributes; `list` is where they stand in the body. */
export function decodeAttributes(
  attributes: readonly AttributeBody[] | null | undefined,
  list: string,
): readonly RawAttribute[] {
  return (attributes ?? []).map(({ entity, attribute, value }, index) => ({
    entity,
    attribute,
    value: decodeAny(value, `${list}[${index}].value`),
  }));
}
