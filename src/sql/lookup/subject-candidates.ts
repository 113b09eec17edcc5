import { must } from "../../base/assert.ts";
import type {
  CandidateHop,
  CandidatePlan,
  CandidateState,
} from "../../plan/passes/5-drop-guards.ts";
import type { Test } from "../../plan/plan.ts";
import { nameOf, ranksOf, type SearchStates, sharedNames } from "../search/state-names.ts";
import { guardedVerdict } from "../search/test.ts";
import { byState, depth, hops, levelZero, nextLevel, type Writer } from "../search/writer.ts";
import { relationProbe } from "../state/relation-set.ts";
import { lateralBranches, type StatementScope } from "../state/source.ts";
import { type Fragment, integer, join, literal, sql, truth } from "../text/fragment.ts";
import { type IdReading, tupleIdsAmong } from "./candidate.ts";
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
 * candidates have the columns (id, sure). `sure`: the path is definite and short enough.
 */
export function subjectCandidates(input: SubjectCandidates): {
  readonly tables: readonly Fragment[];
  readonly candidates: readonly Fragment[];
} {
  const states = [...input.candidatePlan.states.values()];
  const found = [...selfIds(input, states), ...directIds(input, states)];
  const opened = states.flatMap((state) =>
    state.tests.flatMap(({ test, isDefinite }) =>
      isOpen(test) ? [openRows(input, state, test, isDefinite)] : [],
    ),
  );
  const reach = reachTable(input);
  if (opened.length === 0) return { tables: [reach], candidates: found };
  const open = sql`
    open as materialized (
      select o.sure
      from (${join(opened, " union all ")}) o
      order by o.sure desc
      limit 1
    )
  `;
  const { question } = input.candidatePlan;
  const named = question.entityType === question.subjectType ? input.entityId : undefined;
  const known = knownIds(input.scope, input.reading, question.subjectType, named);
  const all = sql`
    select c.id collate "C", o.sure from open o cross join lateral (${known}) c
  `;
  return { tables: [reach, open], candidates: [...found, all] };
}

const isSure = sql`reach.sure and ${hops(sql`reach.level`)} <= ${depth}`;

function reachTable(input: SubjectCandidates): Fragment {
  const states = [...input.candidatePlan.states.values()];
  const start = sql`select 0, ${input.entityId} collate "C", ${levelZero}, true`;
  const ways = states.flatMap((state) => state.hops.map((hop) => ({ state, hop })));
  const isWalk = ({ hop }: (typeof ways)[number]): boolean => hop.subjectRelation === undefined;
  const walks = ranksOf(ways.filter(isWalk), stateOf);
  const usersets = ranksOf(
    ways.filter((way) => !isWalk(way)),
    stateOf,
  );
  const steps = [...walks, ...usersets].map((rank) => step(input, rank));
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

function stateOf({ state }: { readonly state: CandidateState }): number {
  return state.id;
}

/** Hops of different states, which are walks or lead to usersets. */
function step(
  input: SubjectCandidates,
  rank: readonly { readonly state: CandidateState; readonly hop: CandidateHop }[],
): Fragment {
  const states = statesOf(input);
  const { relations, entityType } = sharedNames(
    states,
    rank.map(({ state, hop }) => ({ state, relations: hop.relations })),
  );
  const nameBy = (name: (hop: CandidateHop) => string): Fragment =>
    nameOf(
      states,
      rank.map(({ state, hop }) => ({ state: state.id, name: name(hop) })),
    );
  const type = nameBy((hop) => hop.subjectType);
  const isWalk = rank.every(({ hop }) => hop.subjectRelation === undefined);
  const target = byRank(rank, ({ hop }) => integer(hop.target));
  const definite = byRank(rank, ({ hop }) => truth(hop.isDefinite));
  return relationProbe(
    input.scope,
    sql`${target} as state, r.subject_id as id, ${definite} as sure`,
    relations,
    {
      type: entityType,
      id: sql`reach.id`,
      subject: isWalk
        ? { known: "type", type }
        : { known: "kind", type, relation: nameBy((hop) => hop.subjectRelation ?? "") },
    },
  );
}

/** A value by the state of a row of `reach`, whose state has an entry. */
function byRank<T extends { readonly state: CandidateState }>(
  rank: readonly T[],
  value: (entry: T) => Fragment,
): Fragment {
  const entries = rank.map((entry) => ({ state: entry.state.id, value: value(entry) }));
  return byState(sql`reach.state`, entries, entries.length);
}

function statesOf({ candidatePlan }: SubjectCandidates): SearchStates {
  return { column: sql`reach.state`, count: candidatePlan.states.size };
}

function isOpen(test: Test): test is OpenTest {
  return test.kind === "attribute" || test.kind === "rule";
}

/** The subjects that the entities of `reach` are themselves. */
function selfIds(
  { reading }: SubjectCandidates,
  states: readonly CandidateState[],
): readonly Fragment[] {
  return states.flatMap((state) =>
    state.tests.flatMap(({ test, isDefinite }) =>
      test.kind === "self"
        ? [
            sql`
              select reach.id, ${isDefinite ? isSure : sql`false`} as sure
              from reach
              where reach.state = ${integer(state.id)} and ${reading.wanted({ id: sql`reach.id` })}
            `,
          ]
        : [],
    ),
  );
}

/** The subjects of their tuples. */
function directIds(input: SubjectCandidates, all: readonly CandidateState[]): readonly Fragment[] {
  const { scope, reading, candidatePlan } = input;
  const { subjectType, subjectRelation } = candidatePlan.question;
  const tests = all.flatMap((state) =>
    state.tests.flatMap(({ test, isDefinite }) =>
      test.kind === "direct" ? [{ state, relations: test.relations, isDefinite }] : [],
    ),
  );
  return ranksOf(tests, stateOf).map((rank) => {
    const { relations, entityType } = sharedNames(statesOf(input), rank);
    const ids = tupleIdsAmong(scope, reading, relations, {
      end: "subject",
      entityType,
      entityId: sql`reach.id`,
      subjectType: literal(subjectType),
      subjectRelation: literal(subjectRelation),
    });
    const sure = byRank(rank, ({ isDefinite }) => (isDefinite ? isSure : sql`false`));
    // The offset has this worked out for a row of the search, not for each of its subjects.
    return sql`
      select c.id, reach.sure
      from (select reach.state, reach.id, ${sure} as sure from reach offset 0) reach
      cross join lateral (${ids}) c
    `;
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
  if (writer === undefined) return sql`select false as sure from reach where ${here}`;
  const judged = must(writer.plan.states[state.id], "a candidate state is one of the plan");
  const at = { id: sql`reach.id`, level: levelZero };
  const verdict = guardedVerdict(writer, judged, { guards: [], test }, at);
  const sure = isDefinite ? sql`${isSure} and v.v = 2` : sql`false`;
  return sql`
    select ${sure} as sure
    from reach
    cross join lateral (select case when ${here} then ${verdict} else 0 end as v offset 0) v
    where v.v > 0
  `;
}
