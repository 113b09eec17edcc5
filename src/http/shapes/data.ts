import { type Static, Type } from "typebox";

import type { Attribute, Entity, Subject, Tuple } from "../../base/tuple.ts";
import type { ReadAttributesRequest } from "../../service/read-data.ts";
import type { RawAttribute } from "../../service/request-data.ts";
import { nextPage } from "./answer.ts";
import { type AnyValue, decodeAny, encodeAny, valueField } from "./any.ts";
import { type About, listField, objectField, textListField } from "./field.ts";
import {
  decodePage,
  pageProperties,
  idField,
  idRule,
  nameField,
  nameRule,
  optionalNameField,
  schemaVersionField,
  snapTokenField,
} from "./value-fields.ts";

const entityShape = {
  type: nameField({ required: true }),
  id: idField({ required: true }),
};

const subjectShape = {
  type: nameField({ required: true }),
  id: idField({ required: true }),
  relation: optionalNameField({
    description: "Empty for the subject itself, else all subjects that have this relation to it.",
  }),
};

export const entityField = objectField(entityShape, { component: "Entity", required: true });
export const subjectField = objectField(subjectShape, { component: "Subject", required: true });

const tupleShape = {
  entity: entityField,
  relation: nameField({ required: true }),
  subject: subjectField,
};

const attributeShape = {
  entity: entityField,
  attribute: nameField({ required: true }),
  value: valueField,
};
type AttributeBody = Static<ReturnType<typeof Type.Object<typeof attributeShape>>>;

export function tuplesField(
  about: Omit<About, "of"> = {},
): ReturnType<typeof listField<typeof tupleShape>> {
  return listField(tupleShape, { ...about, of: { component: "Tuple" } });
}

export function tupleField(about: About): ReturnType<typeof objectField<typeof tupleShape>> {
  return objectField(tupleShape, { ...about, component: "Tuple" });
}

export function entitiesField(about: About): ReturnType<typeof listField<typeof entityShape>> {
  return listField(entityShape, { ...about, of: { component: "Entity" } });
}

export function attributesField(): ReturnType<typeof listField<typeof attributeShape>> {
  return listField(attributeShape, { of: { component: "Attribute" } });
}

const metadataShape = { schema_version: schemaVersionField };

export function metadataWithVersion(
  about: About,
): ReturnType<typeof objectField<typeof metadataShape>> {
  return objectField(metadataShape, about);
}

const metadata = metadataWithVersion({ required: true });

export const writeDataBody = Type.Object({
  metadata,
  tuples: tuplesField(),
  attributes: attributesField(),
});

export const writeRelationshipsBody = Type.Object({
  metadata,
  tuples: tuplesField({ required: true, minItems: 1 }),
});

const ids = textListField({ description: "Any of them; none for all.", of: idRule });
const type = optionalNameField({ description: "Empty for all." });
const relation = optionalNameField({ description: "Empty for all." });

const tupleFilterShape = {
  entity: objectField({ type, ids }),
  relation,
  subject: objectField({ type, ids, relation }),
};

const attributeFilterShape = {
  entity: objectField({ type, ids }),
  attributes: textListField({ description: "Any of them; none for all.", of: nameRule }),
};

const tupleFilter = objectField(tupleFilterShape, { component: "TupleFilter", required: true });
const attributeFilter = objectField(attributeFilterShape, {
  component: "AttributeFilter",
  required: true,
});

export function tupleFiltersField(
  about: About,
): ReturnType<typeof listField<typeof tupleFilterShape>> {
  return listField(tupleFilterShape, { ...about, of: { component: "TupleFilter" } });
}

export function attributeFiltersField(
  about: About,
): ReturnType<typeof listField<typeof attributeFilterShape>> {
  return listField(attributeFilterShape, { ...about, of: { component: "AttributeFilter" } });
}

export const deleteDataBody = Type.Object({
  tuple_filter: tupleFilter,
  attribute_filter: attributeFilter,
});

export const deleteRelationshipsBody = Type.Object({ filter: tupleFilter });

const readProperties = {
  metadata: objectField({ snap_token: snapTokenField }, { required: true }),
  ...pageProperties,
};

export const readRelationshipsBody = Type.Object({ ...readProperties, filter: tupleFilter });

export const readAttributesBody = Type.Object({ ...readProperties, filter: attributeFilter });

/** The same components as in requests, with all fields present. */
export const entityAnswer = Type.Unsafe<Entity>(
  Type.Object(entityShape, { about: { component: "Entity" } }),
);
export const subjectAnswer = Type.Unsafe<Subject>(
  Type.Object(subjectShape, { about: { component: "Subject" } }),
);
export const tupleAnswer = Type.Unsafe<Tuple>(
  Type.Object(tupleShape, { about: { component: "Tuple" } }),
);
export const attributeAnswer = Type.Unsafe<{
  readonly entity: Entity;
  readonly attribute: string;
  readonly value: AnyValue;
}>(Type.Object(attributeShape, { about: { component: "Attribute" } }));

export const readRelationshipsAnswer = Type.Object({
  tuples: Type.Array(tupleAnswer),
  continuous_token: nextPage,
});

export const readAttributesAnswer = Type.Object({
  attributes: Type.Array(attributeAnswer),
  continuous_token: nextPage,
});

/** Reads the values of attributes. `list` is their path in the body. */
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

/** The common part of reads, in the form of the service. */
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

export function encodeTuple({ entity, relation, subject }: Tuple): Static<typeof tupleAnswer> {
  return { entity, relation, subject };
}

export function encodeAttribute({
  entity,
  attribute,
  value,
}: Attribute): Static<typeof attributeAnswer> {
  return { entity, attribute, value: encodeAny(value) };
}
