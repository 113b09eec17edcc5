import type { CandidateState } from "../../plan/passes/5-drop-guards.ts";
import { levelZero, nextLevel } from "../search/writer.ts";
import { lateralBranches, tupleProbe } from "../state/source.ts";
import { type Fragment, integer, join, literal, sql } from "../text/fragment.ts";
import { acceptedIds, type EntityCandidates, type NotDirect, verdictAt } from "./accepted-ids.ts";
import { type BackStep, loosely, rangesOf, type StepRange, subjectState } from "./back-steps.ts";
import { whole } from "./candidate.ts";
import { type StepTable, stepTable } from "./step-table.ts";

/**
 * The level of a row that accepts without a hop. The asked subject is one level below, so a level of
 * `back` is the number of hops plus one.
 */
const backLevelZero = nextLevel(levelZero);

/** The hops of a row of `back`, as `levelZero` counts them. */
export const backHops = sql`round(back.level, scale(back.level) - 1)`;

/**
 * The search of a lookup of entities from the subject's end, as a CTE `back` (state, id, level, sure),
 * whose `sure` is true when the path is definite. It begins at the subject and where other tests of
 * the `inner` states accept, and goes against the steps.
 *
 * A walk follows subjects of its type with any relation. Almost all of these have none. For the
 * others one probe serves all walks from a row, the `loose` steps, in no order of an index.
 */
export function backTable(
  input: EntityCandidates,
  inner: readonly CandidateState[],
  steps: { readonly plain: readonly BackStep[]; readonly loose: readonly BackStep[] },
): Fragment {
  const { candidatePlan, subjectId, relationsWith } = input;
  const subject = sql`select ${integer(subjectState(candidatePlan))}, ${subjectId}, ${levelZero}, true`;
  const starts = inner.flatMap((state) =>
    state.tests.flatMap(({ test, isDefinite }) =>
      test.kind === "direct" ? [] : [start(input, state, test, isDefinite)],
    ),
  );
  const begin = join([subject, ...starts], " union all ");
  const branches = [
    ...branch(input, rangesOf(steps.plain, relationsWith), "exact"),
    ...branch(input, loosely(steps.loose), "loose"),
  ];
  const columns = sql`back(state, id, level, sure)`;
  if (branches.length === 0) return sql`${columns} as (${begin})`;
  return sql`
    ${columns} as (
      (${begin})
      union
      select n.state, n.id, ${nextLevel(sql`back.level`)}, back.sure and n.sure
      from back
      cross join ${lateralBranches(branches)} n
    )
  `;
}

/** The rows of `back` at which a test of an inner state accepts. */
function start(
  input: EntityCandidates,
  state: CandidateState,
  test: NotDirect,
  isDefinite: boolean,
): Fragment {
  const { writer } = input;
  const ids = acceptedIds(input, input.limits.limited(whole, state.entityType), state, test);
  const columns = sql`
    ${integer(state.id)} as state, c.id collate "C" as id, ${backLevelZero} as level
  `;
  const definite = isDefinite ? sql`true` : sql`false`;
  if (test.kind === "self") return sql`select ${columns}, ${definite} as sure from (${ids}) c`;
  if (writer === undefined) return sql`select ${columns}, false as sure from (${ids}) c`;
  const verdict = verdictAt(writer, state, test, sql`c.id`);
  return sql`
    select ${columns}, ${definite} and v.v = 2 as sure
    from (${ids}) c
    cross join lateral (select ${verdict} as v offset 0) v
    where v.v > 0
  `;
}

/** From a row of `back` by all ranges that begin there: columns (state, id, sure). */
function branch(
  input: EntityCandidates,
  ranges: readonly StepRange[],
  kind: "exact" | "loose",
): Fragment[] {
  if (ranges.length === 0) return [];
  const table = stepTable(ranges, sql`back.state`, kind);
  const condition = kind === "exact" ? rangeCondition(table) : sql`r.subject_relation > ''`;
  const probe = tupleProbe(
    input.scope,
    sql`r.entity_type, r.relation, r.entity_id as id`,
    sql`
      r.subject_id = back.id
      and r.subject_type = ${table.name((range) => range.subjectType)}
      and ${condition}
    `,
    {
      end: "subject",
      type: table.name((range) => range.subjectType),
      id: sql`back.id`,
      relation: kind === "exact" ? table.name((range) => range.subjectRelation) : undefined,
      entity: undefined,
    },
  );
  const allowed = allowedIds(input, ranges);
  const where = allowed.length === 0 ? sql`` : sql`where ${join(allowed, " and ")}`;
  // The offset keeps the planner from a join that begins with all tuples of the tenant.
  return [
    sql`
      select s.state, p.id, s.sure
      from
      ${table.each}
      lateral (select q.* from (${probe}) q offset 0) p
      cross join ${table.targets}
      ${where}
    `,
  ];
}

function rangeCondition(table: StepTable): Fragment {
  const place = sql`(r.entity_type, r.relation)`;
  const first = sql`
    (
      ${table.name(({ first: name }) => name.entityType)},
      ${table.name(({ first: name }) => name.relation)}
    )
  `;
  const last = sql`
    (
      ${table.name(({ last: name }) => name.entityType)},
      ${table.name(({ last: name }) => name.relation)}
    )
  `;
  return sql`
    r.subject_relation = ${table.name((range) => range.subjectRelation)}
    and ${place} >= ${first}
    and ${place} <= ${last}
  `;
}

/** Conditions that keep entities of a scoped type that are not in scope out. */
function allowedIds({ limits }: EntityCandidates, ranges: readonly StepRange[]): Fragment[] {
  const steps = ranges.flatMap((range) => range.steps);
  return [...new Set(steps.map(({ entityType }) => entityType))].flatMap((type) => {
    const condition = limits.allows(type, sql`p.id`);
    return condition === undefined
      ? []
      : [sql`(p.entity_type <> ${literal(type)} or ${condition})`];
  });
}
