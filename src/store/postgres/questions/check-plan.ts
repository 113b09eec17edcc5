import { LRUCache } from "lru-cache";

import type { Schema } from "../../../language/schema.ts";
import { planOf, plansMax } from "../../../plan/cache.ts";
import { treeTuplesMax } from "../../../plan/limit.ts";
import { buildNetwork } from "../../../plan/network.ts";
import type { Plan, Question } from "../../../plan/plan.ts";
import { questionKey, questionUnder } from "../../../plan/question-of.ts";
import { type Body, checkStatement, type CheckShape } from "../../../sql/check.ts";
import { type Footprint, gatherFootprint, searchFootprint } from "../../../sql/footprint.ts";
import type { Statement } from "../../../sql/fragment.ts";
import { expandGatherOf } from "../../../sql/gather-plan.ts";
import { gatherBody, pushDown } from "../../../sql/push-down.ts";
import type { CheckItem } from "../../store.ts";
import { statementCache } from "./statement-cache.ts";

/** Items of a question that have a plan in common. */
export interface Group {
  readonly key: string;
  readonly plan: Plan;
  /** How it is asked of the database: pushed down, or gathered for the interpreter. */
  readonly body: Body;
  readonly footprint: Footprint;
  /** Positions of its items in the question. */
  readonly items: readonly number[];
}

/** Texts of bulk checks depend on what is asked together, which has no bound of its own. */
const statements = statementCache(20_000_000);

/** What items with the same question have in common. */
type Asked = Pick<Group, "plan" | "body" | "footprint">;

const prepared = new WeakMap<Schema, LRUCache<string, Asked>>();

/** The items by plan, in an order that depends on the plans alone. Fails on unknown names. */
export function groupItems(
  schema: Schema,
  items: readonly CheckItem[],
  path: (item: number, field: string) => string,
): Group[] {
  const groups = new Map<string, Group & { readonly items: number[] }>();
  items.forEach((item, index) => {
    const question = questionUnder(schema, item);
    const key = questionKey(question);
    const group = groups.get(key);
    if (group !== undefined) {
      group.items.push(index);
      return;
    }
    const asked = askedOf(schema, key, question, (field) => path(index, field));
    groups.set(key, { key, ...asked, items: [index] });
  });
  return [...groups.values()].toSorted((a, b) => (a.key < b.key ? -1 : 1));
}

/** The same group, read for the interpreter whatever its plan. */
export function gathered(schema: Schema, group: Group, items: readonly number[]): Group {
  const body = gatherBody(schema, group.plan);
  return { ...group, key: `gather ${group.key}`, body, footprint: footprintOf(body), items };
}

/** The same group, with every tuple on the way to be read, as far as a tree can hold them. */
export function listed(schema: Schema, group: Group): Group {
  const network =
    group.plan.kind === "network" ? group.plan.network : buildNetwork(schema, group.plan.question);
  const gather = expandGatherOf(schema, network, group.plan.question);
  return {
    ...group,
    key: `expand ${group.key}`,
    body: { kind: "gather", gather: { ...gather, tuplesMax: treeTuplesMax } },
    footprint: gatherFootprint(gather),
  };
}

function footprintOf(body: Body): Footprint {
  return body.kind === "search" ? searchFootprint(body.plan) : gatherFootprint(body.gather);
}

/** The statement for the groups, written once for a schema and shape. */
export function statementOf(
  schema: Schema,
  groups: readonly Group[],
  shape: CheckShape,
): Statement {
  const key = `${shapeKey(shape)}${groups.map((group) => group.key).join("|")}`;
  return statements(schema, key, () =>
    checkStatement(
      groups.map((group) => group.body),
      shape,
    ),
  );
}

function shapeKey(shape: CheckShape): string {
  const { bulk, pinned, pinnedVersion, contextTuples, contextAttributes } = shape;
  return `${bulk} ${pinned} ${pinnedVersion} ${contextTuples} ${contextAttributes} `;
}

/** The plan of a question and how it is asked; that is found out once. */
function askedOf(
  schema: Schema,
  key: string,
  question: Question,
  path: (field: string) => string,
): Asked {
  const questions = preparedOf(schema);
  let asked = questions.get(key);
  if (asked === undefined) {
    const plan = planOf(schema, question, path);
    const { body } = pushDown(schema, plan);
    asked = { plan, body, footprint: footprintOf(body) };
    questions.set(key, asked);
  }
  return asked;
}

function preparedOf(schema: Schema): LRUCache<string, Asked> {
  let known = prepared.get(schema);
  if (known === undefined) {
    known = new LRUCache({ max: plansMax });
    prepared.set(schema, known);
  }
  return known;
}
