import type { Attribute, Tuple } from "../../../base/tuple.ts";
import { attributeJson } from "../../attribute-value.ts";
import type { AttributeName } from "../../filter.ts";
import { attributeKey } from "../../validate-data.ts";

/** One list for each column, as the functions that change data take them. */
export type Columns = readonly (readonly string[])[];

/** Entity types, entity ids, relations, subject types, subject ids, subject relations. */
export function tupleColumns(tuples: readonly Tuple[]): Columns {
  return [
    tuples.map(({ entity }) => entity.type),
    tuples.map(({ entity }) => entity.id),
    tuples.map(({ relation }) => relation),
    tuples.map(({ subject }) => subject.type),
    tuples.map(({ subject }) => subject.id),
    tuples.map(({ subject }) => subject.relation),
  ];
}

/** Entity types, entity ids, names. */
export function attributeNameColumns(attributes: readonly AttributeName[]): Columns {
  return [
    attributes.map(({ entity }) => entity.type),
    attributes.map(({ entity }) => entity.id),
    attributes.map(({ attribute }) => attribute),
  ];
}

/** The names, then value types and json values; each attribute once. */
export function attributeColumns(attributes: readonly Attribute[]): Columns {
  const distinct = distinctAttributes(attributes);
  return [
    ...attributeNameColumns(distinct),
    distinct.map(({ value }) => value.type),
    distinct.map(({ value }) => JSON.stringify(attributeJson(value))),
  ];
}

/** Attributes with the same key have the same value, or the data would not be valid. */
function distinctAttributes(attributes: readonly Attribute[]): readonly Attribute[] {
  return [...new Map(attributes.map((attribute) => [attributeKey(attribute), attribute])).values()];
}
