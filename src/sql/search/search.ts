import { must } from "../../base/assert.ts";
import type { Guard, State } from "../../plan/plan.ts";
import { lateralBranches } from "../state/source.ts";
import { type Fragment, integer, join, sql } from "../text/fragment.ts";
import { answerOf } from "./answer.ts";
import { behind, passage } from "./guard.ts";
import { hopBranches } from "./hop.ts";
import { goalReadings, goalStarts, splitGoals } from "./inlined-guard.ts";
import { rowVerdict } from "./row.ts";
import { stateVerdict } from "./test.ts";
import {
  byState,
  levelZero,
  nextLevel,
  numbered,
  type Place,
  type Search,
  type Writer,
} from "./writer.ts";

/** The verdict of the question with the number of nodes visited: a subquery of one row (v, n). */
export function questionVerdict(writer: Writer, entityId: Fragment): Fragment {
  const root = must(writer.plan.states[0], "a plan has its question");
  const at = { id: entityId, level: levelZero };
  if (root.hops.length === 0) {
    return sql`select ${localVerdict(writer, root, at)} as v, 1::bigint as n`;
  }
  const { goals, arrival } = splitGoals(writer, root, reachedStates(writer, [root]));
  const { name, search, table } = searchTable(writer, { root, arrival, goals, at });
  const readings = goalReadings(writer, goals, entityId);
  const answer = answerOf({ name, row: search.row }, rowVerdict(writer, search), readings);
  return sql`
    with recursive ${table} select ${answer.verdict} as v, ${answer.nodes} as n ${answer.rows}
  `;
}

/**
 * The verdict of a guard's state at an entity, as a scalar: the first row that surely accepts ends
 * the search, only when there is none does an unknown one count.
 */
export function guardVerdict(writer: Writer, state: State, at: Place): Fragment {
  if (state.hops.length === 0) return localVerdict(writer, state, at);
  const start = { root: state, arrival: state.arrival, goals: [], at };
  const { name, search, table } = searchTable(writer, start);
  const answer = answerOf({ name, row: search.row }, rowVerdict(writer, search), []);
  return sql`(with recursive ${table} select ${answer.verdict} ${answer.rows})`;
}

/** A state without hops is judged where it stands. */
function localVerdict(writer: Writer, state: State, at: Place): Fragment {
  return behind(passage(writer, state.arrival, at), stateVerdict(writer, state, at));
}

/** Where a search begins: a state at an entity, behind guards, with the goals that ride along. */
interface Start {
  readonly root: State;
  readonly arrival: readonly Guard[];
  readonly goals: readonly Guard[];
  readonly at: Place;
}

function searchTable(
  writer: Writer,
  start: Start,
): { readonly name: Fragment; readonly search: Search; readonly table: Fragment } {
  const number = writer.number();
  const name = numbered("search", number);
  const roots = [
    start.root,
    ...start.goals.map((goal) => must(writer.plan.states[goal.state], "a guard has a state")),
  ];
  const states = reachedStates(writer, roots);
  const search: Search = {
    roots,
    states,
    row: numbered("s", number),
    hasSure: isInDoubt(writer, start, states),
  };
  const sure = search.hasSure ? sql`, sure` : sql``;
  const goal = start.goals.length > 0 ? sql`, goal` : sql``;
  const begin = [
    ...goalStarts(start.goals, start.at, search.hasSure),
    startTerm(writer, start, search.hasSure),
  ];
  const steps = stepTerm(writer, search, {
    name,
    next: numbered("n", number),
    goal: start.goals.length > 0 ? sql`, ${search.row}.goal` : sql``,
  });
  const table = sql`
    ${name}(state, id, level${sure}${goal}) as ((${join(begin, " union all ")}) union ${steps})
  `;
  return { name, search, table };
}

function startTerm(
  writer: Writer,
  { root, arrival, goals, at }: Start,
  hasSure: boolean,
): Fragment {
  const start = sql`select ${integer(root.id)}, ${at.id} collate "C", ${at.level}`;
  const goal = goals.length > 0 ? sql`, 0` : sql``;
  const sure = hasSure ? sql`, true` : sql``;
  const passed = passage(writer, arrival, at);
  switch (passed.kind) {
    case "open":
      return sql`${start}${sure}${goal}`;
    case "exact":
      return sql`${start}${sure}${goal} where ${passed.holds}`;
    case "verdict":
      return sql`
        ${start}, g.v = 2${goal} from (select ${passed.value} as v offset 0) g where g.v > 0
      `;
  }
}

/** From each row of the search to the next ones, which enter when their arrival guards let them. */
function stepTerm(
  writer: Writer,
  search: Search,
  names: { readonly name: Fragment; readonly next: Fragment; readonly goal: Fragment },
): Fragment {
  const { row } = search;
  const { name, next, goal } = names;
  const branches = lateralBranches(hopBranches(writer, search));
  const at: Place = { id: sql`${next}.id`, level: nextLevel(sql`${row}.level`) };
  const targets = new Set(search.states.flatMap((state) => state.hops.map((hop) => hop.target)));
  const guarded = search.states.filter(
    (state) => state.arrival.length > 0 && targets.has(state.id),
  );
  const passages = guarded.map((state) => ({
    state: state.id,
    passed: passage(writer, state.arrival, at),
  }));
  const conditions = passages.flatMap(({ state, passed }) =>
    passed.kind === "exact" ? [sql` when ${integer(state)} then ${passed.holds}`] : [],
  );
  const verdicts = passages.flatMap(({ state, passed }) =>
    passed.kind === "verdict" ? [{ state, value: passed.value }] : [],
  );
  const doubt =
    verdicts.length === 0
      ? sql``
      : sql` cross join lateral (select coalesce(${byState(sql`${next}.state`, verdicts, targets.size)}, 2) as v offset 0) g`;
  const where = [
    ...(conditions.length === 0
      ? []
      : [sql`case ${next}.state${join(conditions, "")} else true end`]),
    ...(verdicts.length === 0 ? [] : [sql`g.v > 0`]),
  ];
  const sure = verdicts.length === 0 ? sql`` : sql` and g.v = 2`;
  const columns = search.hasSure
    ? sql`${next}.state, ${next}.id, ${at.level}, ${row}.sure and ${next}.sure${sure}${goal}`
    : sql`${next}.state, ${next}.id, ${at.level}${goal}`;
  const filter = where.length === 0 ? sql`` : sql` where ${join(where, " and ")}`;
  return sql`select ${columns} from ${name} ${row} cross join ${branches} ${next}${doubt}${filter}`;
}

function reachedStates(writer: Writer, roots: readonly State[]): State[] {
  const reached = new Set(roots);
  for (const state of reached) {
    for (const hop of state.hops) {
      reached.add(must(writer.plan.states[hop.target], "a hop leads to a state"));
    }
  }
  return [...reached];
}

/** True when some guard on the way can be unknown. */
function isInDoubt(writer: Writer, start: Start, states: readonly State[]): boolean {
  const targets = new Set(states.flatMap((state) => state.hops.map((hop) => hop.target)));
  const guards = [
    ...start.arrival,
    ...states.flatMap((state) => state.hops.flatMap((hop) => hop.guards)),
    ...states.filter((state) => targets.has(state.id)).flatMap((state) => state.arrival),
  ];
  return guards.some((guard) => !writer.exact.has(guard.state));
}
