import type { GuardedTest, State } from "../../plan/plan.ts";
import { type Fragment, integer, join, sql } from "../text/fragment.ts";
import { firstClosedState } from "./hop.ts";
import { sharedNames } from "./state-names.ts";
import { directHolds, greatest, guardedVerdict, isExact } from "./test.ts";
import { depth, hops, type ReachedEntity, type Search, type Writer } from "./writer.ts";

/**
 * The verdict of one row of a search: whether a test accepts there, and whether that is definite. A
 * row for a userset of the closure accepts without a test.
 */
export function rowVerdict(writer: Writer, search: Search): Fragment {
  const level = hops(sql`${search.row}.level`);
  const most = mostOf(search, level);
  const exact = exactConditions(writer, search);
  const others = otherVerdicts(writer, search).map((verdict) => sql`least(${verdict}, ${most})`);
  const cases = [
    ...closedCases(writer, search, level),
    ...(exact.length === 0 ? [] : [sql`when ${join(exact, " or ")} then ${most}`]),
  ];
  const rest = greatest(others);
  return cases.length === 0 ? rest : sql`case ${join(cases, " ")} else ${rest} end`;
}

/** The greatest verdict of a row: unknown if the path to it is too long or not definite. */
function mostOf(search: Search, level: Fragment): Fragment {
  const definite = search.hasDefinite ? sql`${search.row}.sure and ` : sql``;
  return sql`case when ${definite}${level} <= ${depth} then 2 else 1 end`;
}

/** Such a row comes from the closure, so there is a level of it. */
function closedCases(writer: Writer, search: Search, level: Fragment): Fragment[] {
  const hasUsersets = search.states.some((state) =>
    state.hops.some(({ hop }) => hop.kind === "userset"),
  );
  if (!hasUsersets) return [];
  const first = integer(firstClosedState(writer));
  const state = sql`${search.row}.state`;
  const ofKind =
    writer.plan.usersets.length === 1 ? sql`` : sql`c.userset = ${state} - ${first} and`;
  const most = mostOf(search, sql`${level} + ${hops(sql`c.level`)}`);
  return [
    sql`
      when ${state} >= ${first} then (
        select ${most}
        from closure c
        where
        ${ofKind}
        c.id = ${search.row}.id
        limit 1
      )
    `,
  ];
}

interface StateTest {
  readonly state: State;
  readonly test: GuardedTest;
}

function allTests(search: Search): StateTest[] {
  return search.states.flatMap((state) => state.tests.map((test) => ({ state, test })));
}

/** The tests that say yes or no. The unguarded direct tests of all states share one probe. */
function exactConditions(writer: Writer, search: Search): Fragment[] {
  const tests = allTests(search).filter(({ test }) => isExact(writer, test));
  const isOpen = ({ test }: StateTest): boolean => test.guards.length === 0;
  const selves = tests.filter((each) => isOpen(each) && each.test.test.kind === "self");
  const guarded = tests.filter((each) => !isOpen(each));
  return [
    ...selves.map(
      ({ state }) => sql`(${isAt(search, state)} and ${search.row}.id = ${writer.subjectId})`,
    ),
    ...openDirect(writer, search, tests.filter(isOpen)),
    ...guarded.map(
      ({ state, test }) =>
        sql`(${isAt(search, state)} and ${guardedVerdict(writer, state, test, reachedEntity(search))} = 2)`,
    ),
  ];
}

function openDirect(writer: Writer, search: Search, tests: readonly StateTest[]): Fragment[] {
  const direct = tests.flatMap(({ state, test }) =>
    test.test.kind === "direct" ? [{ state, relations: test.test.relations }] : [],
  );
  if (direct.length === 0) return [];
  const states = { column: sql`${search.row}.state`, count: search.states.length };
  return [directHolds(writer, { id: sql`${search.row}.id`, ...sharedNames(states, direct) })];
}

/** Attributes, rules, and tests behind guards that can be unknown. */
function otherVerdicts(writer: Writer, search: Search): Fragment[] {
  return allTests(search)
    .filter(({ test }) => !isExact(writer, test))
    .map(({ state, test }) => {
      const verdict = guardedVerdict(writer, state, test, reachedEntity(search));
      return sql`case when ${isAt(search, state)} then ${verdict} else 0 end`;
    });
}

function isAt(search: Search, state: State): Fragment {
  return search.states.length === 1 ? sql`true` : sql`${search.row}.state = ${integer(state.id)}`;
}

function reachedEntity(search: Search): ReachedEntity {
  return { id: sql`${search.row}.id`, level: sql`${search.row}.level` };
}
