import type { Attribute, Context, Tuple } from "../../../base/tuple.ts";
import { type Footprint, footprintKey } from "../../../sql/footprint.ts";
import { contextKey, type ContextList, type ContextPart } from "../../../sql/state/context.ts";
import { attributeJson } from "../../attribute-value.ts";

/**
 * The values of a statement's parameters that hold a context, as JSON (see `ContextPart`): of those
 * that it has, and in the parts only what is in its footprint.
 */
export function contextValues(
  context: Context,
  params: readonly string[],
  footprint: Footprint,
): [string, string][] {
  const asked = new Set(params);
  return valuesByName.flatMap(([name, valueOf]) => {
    const key = contextKey(name);
    return asked.has(key) ? [[key, valueOf(context, footprint)]] : [];
  });
}

const valuesByName: readonly (readonly [
  ContextPart | ContextList,
  (context: Context, footprint: Footprint) => string,
])[] = [
  ["by_entity", ({ tuples }, footprint) => byEntity(tuplesIn(tuples, footprint))],
  ["by_subject", ({ tuples }, footprint) => bySubject(tuplesIn(tuples, footprint))],
  ["attributes", ({ attributes }, footprint) => valuesJson(attributesIn(attributes, footprint))],
  [
    "tuples",
    ({ tuples }) =>
      JSON.stringify(
        tuples.map(({ entity, subject }) => [entity.type, entity.id, subject.type, subject.id]),
      ),
  ],
  [
    "attribute_owners",
    ({ attributes }) =>
      JSON.stringify(
        attributes.map(({ entity, attribute }) => [entity.type, entity.id, attribute]),
      ),
  ],
];

function tuplesIn(tuples: readonly Tuple[], footprint: Footprint): readonly Tuple[] {
  return tuples.filter(({ entity, relation }) =>
    footprint.has(footprintKey(entity.type, relation)),
  );
}

function attributesIn(attributes: readonly Attribute[], footprint: Footprint) {
  return attributes.filter(({ entity, attribute }) =>
    footprint.has(footprintKey(entity.type, attribute)),
  );
}

function byEntity(tuples: readonly Tuple[]): string {
  const subjects = new Map<string, string[]>();
  for (const { entity, relation, subject } of tuples) {
    const key = `${entity.type}:${entity.id}#${relation}`;
    add(subjects, key, `${subject.type}#${subject.relation}:${subject.id}`);
  }
  return jsonOf(subjects);
}

function bySubject(tuples: readonly Tuple[]): string {
  const entities = new Map<string, string[]>();
  for (const { entity, relation, subject } of tuples) {
    const own = `${subject.type}:${subject.id}`;
    const key = `${own}#${subject.relation}`;
    if (subject.relation !== "" && !entities.has(key)) add(entities, own, subject.relation);
    add(entities, key, `${entity.type}#${relation}:${entity.id}`);
  }
  return jsonOf(entities);
}

function add(index: Map<string, string[]>, key: string, value: string): void {
  const known = index.get(key);
  if (known === undefined) index.set(key, [value]);
  else known.push(value);
}

/** As text that is written at once: an object with thousands of keys would be slow to make. */
function jsonOf(index: ReadonlyMap<string, readonly string[]>): string {
  const entries = [...index].map(
    ([key, values]) => `${quoted(key)}:[${values.map(quoted).join()}]`,
  );
  return `{${entries.join()}}`;
}

/** Of an attribute that is given twice, the last value counts. */
function valuesJson(attributes: readonly Attribute[]): string {
  const entries = attributes.map(({ entity, attribute, value }) => {
    const key = quoted(`${entity.type}:${entity.id}#${attribute}`);
    return `${key}:${JSON.stringify([value.type, attributeJson(value)])}`;
  });
  return `{${entries.join()}}`;
}

/** Names and ids have no character that JSON would escape. */
function quoted(text: string): string {
  return `"${text}"`;
}
