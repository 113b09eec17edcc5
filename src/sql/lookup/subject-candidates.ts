import { must } from "../../base/assert.ts";
import type {
  CandidateHop,
  CandidatePlan,
  CandidateState,
} from "../../plan/passes/5-drop-guards.ts";
import type { Test } from "../../plan/plan.ts";
import { guardedVerdict } from "../search/test.ts";
import { levelZero, nextLevel, type Writer } from "../search/writer.ts";
import { relationProbe, relationSet } from "../state/relation-set.ts";
import { lateralBranches, type StatementScope } from "../state/source.ts";
import { type Fragment, integer, join, literal, sql } from "../text/fragment.ts";
import { type IdReading, tupleIds } from "./candidate.ts";
import { knownIds } from "./known-ids.ts";

export interface SubjectCandidates {
  readonly scope: StatementScope;
  readonly candidatePlan: CandidatePlan;
  readonly entityId: Fragment;
  /** Which of the candidates are read. */
  readonly reading: IdReading;
  /** Judges tests of the search. Undefined when the plan has no SQL: then tests are taken to hold. */
  readonly writer: Writer | undefined;
}

/** Tests that accept every subject or none. */
type OpenTest = Extract<Test, { kind: "attribute" | "rule" }>;

/**
 * The candidates of a lookup of subjects, as CTEs: `reach` goes from the entity along the hops of
 * the candidate plan. From each row a page of its own is read of the subjects of its direct tuples.
 * `open` says whether a test accepts every subject, so that all known ids are candidates. The
 * candidates have the columns (id, sure, level), as in a lookup of entities.
 */
export function subjectCandidates(input: SubjectCandidates): {
  readonly tables: readonly Fragment[];
  readonly candidates: readonly Fragment[];
} {
  const states = [...input.candidatePlan.states.values()];
  const found = states.flatMap((state) =>
    state.tests.flatMap(({ test, isDefinite }) => {
      const definite = isDefinite ? sql`reach.sure` : sql`false`;
      return isOpen(test)
        ? []
        : [
            sql`
              select c.id, ${definite} as sure, reach.level
              from reach
              cross join lateral (${acceptedIds(input, state, test)}) c
              where reach.state = ${integer(state.id)}
            `,
          ];
    }),
  );
  const opened = states.flatMap((state) =>
    state.tests.flatMap(({ test, isDefinite }) =>
      isOpen(test) ? [openRows(input, state, test, isDefinite)] : [],
    ),
  );
  const reach = reachTable(input);
  if (opened.length === 0) return { tables: [reach], candidates: found };
  const open = sql`
    open as materialized (
      select o.sure, o.level
      from (${join(opened, " union all ")}) o
      order by o.sure desc, scale(o.level)
      limit 1
    )
  `;
  const { question } = input.candidatePlan;
  const named = question.entityType === question.subjectType ? input.entityId : undefined;
  const known = knownIds(input.scope, input.reading, question.subjectType, named);
  const all = sql`
    select c.id collate "C", o.sure, o.level from open o cross join lateral (${known}) c
  `;
  return { tables: [reach, open], candidates: [...found, all] };
}

function reachTable(input: SubjectCandidates): Fragment {
  const states = [...input.candidatePlan.states.values()];
  const start = sql`select 0, ${input.entityId} collate "C", ${levelZero}, true`;
  const steps = states.flatMap((state) => state.hops.map((hop) => step(input, state, hop)));
  const columns = sql`reach(state, id, level, sure)`;
  if (steps.length === 0) return sql`${columns} as (${start})`;
  return sql`
    ${columns} as (
      ${start}
      union
      select n.state, n.id, ${nextLevel(sql`reach.level`)}, reach.sure and n.sure
      from reach
      cross join ${lateralBranches(steps)} n
    )
  `;
}

function step(input: SubjectCandidates, from: CandidateState, hop: CandidateHop): Fragment {
  const definite = hop.isDefinite ? sql`true` : sql`false`;
  const type = literal(hop.subjectType);
  return relationProbe(
    input.scope,
    sql`${integer(hop.target)} as state, r.subject_id as id, ${definite} as sure`,
    relationSet(hop.relations),
    {
      type: literal(from.entityType),
      id: sql`reach.id`,
      subject:
        hop.subjectRelation === undefined
          ? { known: "type", type }
          : { known: "kind", type, relation: literal(hop.subjectRelation) },
    },
    sql`and reach.state = ${integer(from.id)}`,
  );
}

function isOpen(test: Test): test is OpenTest {
  return test.kind === "attribute" || test.kind === "rule";
}

function acceptedIds(
  input: SubjectCandidates,
  state: CandidateState,
  test: Exclude<Test, OpenTest>,
): Fragment {
  if (test.kind === "self")
    return sql`select s.id from (select reach.id) s where ${input.reading.wanted({ id: sql`s.id` })}`;
  const { subjectType, subjectRelation } = input.candidatePlan.question;
  return tupleIds(input.scope, input.reading, test.relations, {
    end: "subject",
    entityType: literal(state.entityType),
    entityId: sql`reach.id`,
    subjectType: literal(subjectType),
    subjectRelation: literal(subjectRelation),
  });
}

/** The rows of `reach` at which the test accepts, or may. */
function openRows(
  input: SubjectCandidates,
  state: CandidateState,
  test: OpenTest,
  isDefinite: boolean,
): Fragment {
  const { writer } = input;
  const here = sql`reach.state = ${integer(state.id)}`;
  if (writer === undefined) return sql`select false as sure, reach.level from reach where ${here}`;
  const judged = must(writer.plan.states[state.id], "a candidate state is one of the plan");
  const at = { id: sql`reach.id`, level: levelZero };
  const verdict = guardedVerdict(writer, judged, { guards: [], test }, at);
  const definite = isDefinite ? sql`reach.sure and v.v = 2` : sql`false`;
  return sql`
    select ${definite} as sure, reach.level
    from reach
    cross join lateral (select case when ${here} then ${verdict} else 0 end as v offset 0) v
    where v.v > 0
  `;
}
