import type { CandidateState } from "../../plan/passes/5-drop-guards.ts";
import { levelZero, nextLevel } from "../search/writer.ts";
import { tupleProbe } from "../state/source.ts";
import { type Fragment, integer, join, literal, sql, truth } from "../text/fragment.ts";
import { acceptedIds, type EntityCandidates, type NotDirect, verdictAt } from "./accepted-ids.ts";
import { rangesOf, type SearchSteps, type StepRange, subjectState } from "./back-steps.ts";
import { whole } from "./candidate.ts";
import { stepTable } from "./step-table.ts";

/**
 * The level of a row that accepts without a hop. The asked subject is one level below, so a level of
 * `back` is the number of hops plus one.
 */
const backLevelZero = nextLevel(levelZero);

/** The hops of a row of `back`, as `levelZero` counts them. */
export const backHops = sql`round(back.level, scale(back.level) - 1)`;

/** How a search from the subject's end is written, if it is not `back` with all rows. */
export interface BackForm {
  readonly name: Fragment;
  /** A condition on a row (state, id, level, sure): the search goes on from no others. */
  readonly kept: (row: Fragment) => Fragment;
}

/**
 * The search of a lookup of entities from the subject's end, as a CTE `back` (state, id, level, sure),
 * whose `sure` is true when the path is definite. It begins at the subject and where other tests of
 * the `inner` states accept, and goes against the steps.
 */
export function backTable(
  input: EntityCandidates,
  inner: readonly CandidateState[],
  steps: SearchSteps,
  form?: BackForm,
): Fragment {
  const { candidatePlan, subjectId, relationsWith } = input;
  const subject = sql`select ${integer(subjectState(candidatePlan))}, ${subjectId}, ${levelZero}, true`;
  const starts = inner.flatMap((state) =>
    state.tests.flatMap(({ test, isDefinite }) =>
      test.kind === "direct" ? [] : [start(input, state, test, isDefinite)],
    ),
  );
  const all = join([subject, ...starts], " union all ");
  const row = sql`n`;
  const begin =
    form === undefined
      ? all
      : sql`select n.* from (${all}) n(state, id, level, sure) where ${form.kept(row)}`;
  const ranges = rangesOf(steps, relationsWith);
  const columns = sql`${form?.name ?? sql`back`}(state, id, level, sure)`;
  const table = form === undefined ? sql`back` : sql`${form.name} back`;
  if (ranges.length === 0) return sql`${columns} as (${begin})`;
  return sql`
    ${columns} as (
      (${begin})
      union
      select n.state, n.id, ${nextLevel(sql`back.level`)}, back.sure and n.sure
      from ${table}
      cross join lateral (${reached(input, ranges)}) n
      ${form === undefined ? sql`` : sql`where ${form.kept(row)}`}
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
  const definite = truth(isDefinite);
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
function reached(input: EntityCandidates, ranges: readonly StepRange[]): Fragment {
  const table = stepTable(ranges, sql`back.state`);
  const placeOf = (which: "first" | "last"): Fragment => sql`
    (
      ${table.name((range) => range[which].subjectRelation)},
      ${table.name((range) => range[which].entityType)},
      ${table.name((range) => range[which].relation)}
    )
  `;
  const place = sql`(r.subject_relation, r.entity_type, r.relation)`;
  const isExact = ranges.every(({ isLoose }) => !isLoose);
  const probe = tupleProbe(
    input.scope,
    sql`r.entity_type, r.relation, r.entity_id as id`,
    sql`
      r.subject_id = back.id
      and r.subject_type = ${table.name((range) => range.subjectType)}
      and ${place} >= ${placeOf("first")}
      and ${place} <= ${placeOf("last")}
    `,
    {
      end: "subject",
      type: table.name((range) => range.subjectType),
      id: sql`back.id`,
      relation: isExact ? table.name((range) => range.first.subjectRelation) : undefined,
      entity: undefined,
    },
  );
  const { from, condition } = table.targets;
  const conditions = [
    ...(condition === undefined ? [] : [condition]),
    ...allowedIds(input, ranges),
  ];
  const where = conditions.length === 0 ? sql`` : sql`where ${join(conditions, " and ")}`;
  // The offsets keep the planner from a join that begins with all tuples of the tenant.
  return sql`
    select s.state, p.id, s.sure
    from
    ${table.each}
    lateral (select q.* from (${probe}) q offset 0) p
    cross join ${from}
    ${where}
    offset 0
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
