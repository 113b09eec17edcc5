import { type Static, Type } from "typebox";

import type { Attribute, Tuple } from "../../base/tuple.ts";
import type { ReadAttributesRequest } from "../../service/read-data.ts";
import type { RawAttribute } from "../../service/request-data.ts";
import { decodeAny, encodeAny } from "./any.ts";
import { jsonField, listField, objectField, textField, textListField } from "./field.ts";
import { decodePage, pageProperties } from "./page.ts";

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

const readProperties = {
  metadata: objectField({ snap_token: textField() }),
  ...pageProperties,
};

export const readRelationshipsBody = Type.Object({ ...readProperties, filter: tupleFilter });

export const readAttributesBody = Type.Object({ ...readProperties, filter: attributeFilter });

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

/** What reads have in common, in the terms of the service. */
export function decodeRead(
  tenantId: string,
  body: Static<typeof readRelationshipsBody> | Static<typeof readAttributesBody>,
): Omit<ReadAttributesRequest, "filter"> {
  const { metadata } = body;
  return {
    tenantId,
    metadata: metadata && { snapToken: metadata.snap_token },
    ...decodePage(body),
  };
}

export function encodeTuple({ entity, relation, subject }: Tuple): object {
  return { entity, relation, subject };
}

export function encodeAttribute({ entity, attribute, value }: Attribute): object {
  return { entity, attribute, value: encodeAny(value) };
}
