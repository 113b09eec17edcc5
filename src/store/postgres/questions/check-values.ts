import { must } from "../../../base/assert.ts";
import type { Attribute, Context, Tuple } from "../../../base/tuple.ts";
import type { CheckShape } from "../../../sql/check.ts";
import { type Footprint, footprintKey } from "../../../sql/footprint.ts";
import { type ContextList, type ContextPart, contextKey } from "../../../sql/state/context.ts";
import { attributeJson } from "../../attribute-value.ts";
import type { CheckItem, CheckQuestion, QuestionFrame } from "../../store.ts";
import { type ParameterValue, arrayLiteral } from "../connect/value.ts";
import { type PinnedState, stateValues } from "../token/snap-token.ts";
import type { DirectItem, Group } from "./group.ts";

/** The shape of the statement that a question needs. */
export function checkShape(question: CheckQuestion, groups: readonly Group[]): CheckShape {
  return {
    bulk:
      groups.some(({ kind }) => kind === "direct") ||
      groups.reduce((count, group) => count + askedItems(group).length, 0) !== 1,
    pinned: question.snapToken !== undefined,
    pinnedVersion: question.schemaVersion !== undefined,
    contextTuples: question.context.tuples.length > 0,
    contextAttributes: question.context.attributes.length > 0,
  };
}

/** The values of a check statement by the keys of its parameters (see `checkStatement`). */
export function checkValues(input: {
  readonly tenant: string;
  readonly question: CheckQuestion;
  readonly state: PinnedState | undefined;
  readonly groups: readonly Group[];
  readonly shape: CheckShape;
  readonly params: readonly string[];
}): ReadonlyMap<string, ParameterValue> {
  const { tenant, state, question, groups, shape, params } = input;
  const footprint = new Set(groups.flatMap((group) => [...group.footprint]));
  const values = frameValues(tenant, question, { state, params, footprint });
  groups.forEach((group, index) => {
    const asked = askedItems(group).map(({ position, relation }) => {
      const item = must(question.items[position], "a group's items are the question's");
      return { position, item, relation };
    });
    const [first] = asked;
    const set = <T extends string | number>(
      key: string,
      of: (one: ItemRelation) => T,
      none: T,
    ): void => {
      const value = first === undefined ? none : of(first);
      values.set(
        `${key}_${index}`,
        shape.bulk ? arrayLiteral(asked.map((one) => String(of(one)))) : value,
      );
    };
    set("id", ({ item }) => item.entity.id, "");
    set("subject", ({ item }) => item.subject.id, "");
    set("item", ({ position }) => position, 0);
    if (group.kind === "direct") set("relation", ({ relation }) => relation, "");
  });
  return values;
}

interface ItemRelation {
  readonly position: number;
  readonly item: CheckItem;
  readonly relation: string;
}

/** The items that go into the statement: of a shared group one, which stands for the others. */
function askedItems(group: Group): readonly DirectItem[] {
  if (group.kind === "direct") return group.items;
  const { items, isShared } = group;
  const sent = isShared ? items.slice(0, 1) : items;
  return sent.map(({ position }) => ({ position, relation: "" }));
}

/** The values that all statements of permissions have, by the keys of their parameters. */
export function frameValues(
  tenant: string,
  { depth, context, schemaVersion }: QuestionFrame,
  asked: {
    readonly state: PinnedState | undefined;
    /** The parameters of the statement, and what it can read. */
    readonly params: readonly string[];
    readonly footprint: Footprint;
  },
): Map<string, ParameterValue> {
  const { state, params, footprint } = asked;
  const values = new Map<string, ParameterValue>([
    ["tenant", tenant],
    ["depth", depth],
    ["data", JSON.stringify(context.data)],
  ]);
  for (const [key, value] of state === undefined ? [] : stateValues(state)) values.set(key, value);
  if (schemaVersion !== undefined) values.set("version", schemaVersion);
  for (const [key, value] of contextValues(context, params, footprint)) values.set(key, value);
  return values;
}

/**
 * The values of a statement's parameters that hold a context, as JSON (see `ContextPart`): of those
 * that it has, and in the parts only what is in its footprint.
 */
function contextValues(
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
