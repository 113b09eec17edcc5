import type { CheckShape } from "../../../sql/check.ts";
import type { Footprint } from "../../../sql/footprint.ts";
import type { CheckQuestion, QuestionFrame } from "../../store.ts";
import { arrayLiteral } from "../connect/array-literal.ts";
import type { Value } from "../connect/value.ts";
import { type PinnedState, stateValues } from "../token/snap-token.ts";
import type { Group } from "./check-plan.ts";
import { contextValues } from "./context-values.ts";

/** The shape of the statement that a question needs. */
export function checkShape(question: CheckQuestion, groups: readonly Group[]): CheckShape {
  return {
    bulk: groups.reduce((count, group) => count + group.items.length, 0) !== 1,
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
    const items = group.items.flatMap((position) => question.items[position] ?? []);
    const ids = items.map((item) => item.entity.id);
    const subjects = items.map((item) => item.subject.id);
    values.set(`id_${index}`, shape.bulk ? arrayLiteral(ids) : (ids[0] ?? ""));
    values.set(`subject_${index}`, shape.bulk ? arrayLiteral(subjects) : (subjects[0] ?? ""));
    values.set(
      `item_${index}`,
      shape.bulk ? arrayLiteral(group.items.map(String)) : (group.items[0] ?? 0),
    );
  });
  return values;
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
