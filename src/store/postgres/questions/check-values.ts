import { must } from "../../../base/assert.ts";
import type { CheckShape } from "../../../sql/check.ts";
import type { Footprint } from "../../../sql/footprint.ts";
import type { CheckItem, CheckQuestion, QuestionFrame } from "../../store.ts";
import { arrayLiteral } from "../connect/array-literal.ts";
import type { Value } from "../connect/value.ts";
import { type PinnedState, stateValues } from "../token/snap-token.ts";
import { contextValues } from "./context-values.ts";
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
}): ReadonlyMap<string, Value> {
  const { tenant, state, question, groups, shape, params } = input;
  const footprint = new Set(groups.flatMap((group) => [...group.footprint]));
  const values = frameValues(tenant, question, { state, params, footprint });
  groups.forEach((group, index) => {
    const asked = askedItems(group).map(({ position, relation }) => {
      const item = must(question.items[position], "a group's items are the question's");
      return { position, item, relation };
    });
    const [first] = asked;
    const set = <T extends string | number>(key: string, of: (one: Asked) => T, none: T): void => {
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

interface Asked {
  readonly position: number;
  readonly item: CheckItem;
  readonly relation: string;
}

/** The items that the statement is told: of a shared group one, which stands for the others. */
function askedItems(group: Group): readonly DirectItem[] {
  if (group.kind === "direct") return group.items;
  const { items, isShared } = group;
  const told = isShared ? items.slice(0, 1) : items;
  return told.map(({ position }) => ({ position, relation: "" }));
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
): Map<string, Value> {
  const { state, params, footprint } = asked;
  const values = new Map<string, Value>([
    ["tenant", tenant],
    ["depth", depth],
    ["data", JSON.stringify(context.data)],
  ]);
  for (const [key, value] of state === undefined ? [] : stateValues(state)) values.set(key, value);
  if (schemaVersion !== undefined) values.set("version", schemaVersion);
  for (const [key, value] of contextValues(context, params, footprint)) values.set(key, value);
  return values;
}
