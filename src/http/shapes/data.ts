import { type Static, Type } from "typebox";

import type { RawAttribute } from "../../service/request-data.ts";
import { decodeAny } from "./any.ts";
import { jsonField, listField, objectField, textField, textListField } from "./field.ts";

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

const tupleFilter = objectField({
  entity: objectField({ type: textField(), ids: textListField() }),
  relation: textField(),
  subject: objectField({ type: textField(), ids: textListField(), relation: textField() }),
});

const attributeFilter = objectField({
  entity: objectField({ type: textField(), ids: textListField() }),
  attributes: textListField(),
});

export const deleteDataBody = Type.Object({
  tuple_filter: tupleFilter,
  attribute_filter: attributeFilter,
});

export const deleteRelationshipsBody = Type.Object({ filter: tupleFilter });

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
