import type { Context } from "../../base/tuple.ts";
import type { CheckShape } from "../../sql/check.ts";
import { contextTupleKey } from "../../sql/source.ts";
import { attributeJson } from "../attribute-value.ts";
import type { CheckQuestion, QuestionFrame } from "../store.ts";
import { arrayLiteral } from "./array-literal.ts";
import type { Group } from "./check-plan.ts";
import type { Value } from "./database.ts";
import { type PinnedState, stateValues } from "./snap-token.ts";

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
}): ReadonlyMap<string, Value> {
  const { question, groups, shape } = input;
  const values = frameValues(input.tenant, question, input.state);
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
  state: PinnedState | undefined,
): Map<string, Value> {
  const values = new Map<string, Value>([
    ["tenant", tenant],
    ["depth", depth],
    ["data", JSON.stringify(context.data)],
  ]);
  for (const [key, value] of state === undefined ? [] : stateValues(state)) values.set(key, value);
  if (schemaVersion !== undefined) values.set("version", schemaVersion);
  if (context.tuples.length > 0) addContextTuples(values, context);
  if (context.attributes.length > 0) {
    const rows = context.attributes.map(({ entity, attribute, value }) => ({
      entity_type: entity.type,
      entity_id: entity.id,
      attribute,
      value_type: value.type,
      value: attributeJson(value),
    }));
    values.set("context_attributes", JSON.stringify(rows));
  }
  return values;
}

function addContextTuples(values: Map<string, Value>, { tuples }: Context): void {
  values.set(contextTupleKey("entity_type"), arrayLiteral(tuples.map((t) => t.entity.type)));
  values.set(contextTupleKey("entity_id"), arrayLiteral(tuples.map((t) => t.entity.id)));
  values.set(contextTupleKey("relation"), arrayLiteral(tuples.map((t) => t.relation)));
  values.set(contextTupleKey("subject_type"), arrayLiteral(tuples.map((t) => t.subject.type)));
  values.set(contextTupleKey("subject_id"), arrayLiteral(tuples.map((t) => t.subject.id)));
  values.set(
    contextTupleKey("subject_relation"),
    arrayLiteral(tuples.map((t) => t.subject.relation)),
  );
}
