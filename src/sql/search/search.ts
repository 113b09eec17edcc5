import { must } from "../../base/assert.ts";
import type { Guard, State } from "../../plan/plan.ts";
import { lateralBranches } from "../state/source.ts";
import { type Fragment, integer, join, sql } from "../text/fragment.ts";
import { behind, passage } from "./guard.ts";
import { hopBranches } from "./hop.ts";
import {
  inlinedGuardReadings,
  inlinedGuardStarts,
  splitInlinedGuards,
  type InlinedGuardReading,
  seenVerdict,
} from "./inlined-guard.ts";
import { rowVerdict } from "./row.ts";
import { stateVerdict } from "./test.ts";
import {
  byState,
  levelZero,
  nextLevel,
  numbered,
  type ReachedEntity,
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
  const { inlinedGuards, arrival } = splitInlinedGuards(
    writer,
    root,
    reachedStates(writer, [root]),
  );
  const { name, search, table } = searchTable(writer, { root, arrival, inlinedGuards, at });
  const readings = inlinedGuardReadings(writer, inlinedGuards, entityId);
  const answer = answerOf({ name, row: search.row }, rowVerdict(writer, search), readings);
  return sql`
    with recursive ${table}
    select ${answer.verdict} as v, ${answer.nodes} as n
    ${answer.rows}
  `;
}

/**
 * The verdict of a guard's state at an entity, as a scalar. The first row that definitely
 * accepts ends the search. If there is none, an unknown row counts.
 */
export function guardVerdict(writer: Writer, state: State, at: ReachedEntity): Fragment {
  if (state.hops.length === 0) return localVerdict(writer, state, at);
  const start = { root: state, arrival: state.arrival, inlinedGuards: [], at };
  const { name, search, table } = searchTable(writer, start);
  const answer = answerOf({ name, row: search.row }, rowVerdict(writer, search), []);
  return sql`
    (
      with recursive ${table}
      select ${answer.verdict}
      ${answer.rows}
    )
  `;
}

/** The verdict of a state without hops, which needs no search. */
function localVerdict(writer: Writer, state: State, at: ReachedEntity): Fragment {
  return behind(passage(writer, state.arrival, at), stateVerdict(writer, state, at));
}

/**
 * What the question reaches from an entity, for any subject: a table of the search, whose rows are judged
 * by `rowVerdict`. Needs: only the arrival guards of the question are guards, and no hop leads to it.
 */
export function openSearch(writer: Writer, entityId: Fragment): ReturnType<typeof searchTable> {
  const root = must(writer.plan.states[0], "a plan has its question");
  const at = { id: entityId, level: levelZero };
  const start = { root, arrival: [], inlinedGuards: [], at };
  return searchTable({ ...writer, usersets: "to be asked" }, start);
}

/** What a state reaches from an entity, usersets and what stands in them, too. Needs: nothing there has a guard. */
export function followedSearch(
  writer: Writer,
  root: State,
  entityId: Fragment,
): ReturnType<typeof searchTable> {
  const at = { id: entityId, level: levelZero };
  const start = { root, arrival: [], inlinedGuards: [], at };
  return searchTable({ ...writer, usersets: "followed" }, start);
}

/** Where a search begins: a state at an entity, behind guards, with the inlined guards. */
interface Start {
  readonly root: State;
  readonly arrival: readonly Guard[];
  readonly inlinedGuards: readonly Guard[];
  readonly at: ReachedEntity;
}

function searchTable(
  writer: Writer,
  start: Start,
): { readonly name: Fragment; readonly search: Search; readonly table: Fragment } {
  const number = writer.number();
  const name = numbered("search", number);
  const roots = [
    start.root,
    ...start.inlinedGuards.map((inlinedGuard) =>
      must(writer.plan.states[inlinedGuard.state], "a guard has a state"),
    ),
  ];
  const states = reachedStates(writer, roots);
  const search: Search = {
    roots,
    states,
    row: numbered("s", number),
    hasDefinite: isInDoubt(writer, start, states),
  };
  const definite = search.hasDefinite ? sql`, sure` : sql``;
  const inlinedGuard = start.inlinedGuards.length > 0 ? sql`, goal` : sql``;
  const begin = [
    ...inlinedGuardStarts(start.inlinedGuards, start.at, search.hasDefinite),
    startTerm(writer, start, search.hasDefinite),
  ];
  const steps = stepTerm(writer, search, {
    name,
    next: numbered("n", number),
    inlinedGuard: start.inlinedGuards.length > 0 ? sql`, ${search.row}.goal` : sql``,
  });
  const table = sql`
    ${name}(state, id, level${definite}${inlinedGuard}) as (
      (${join(begin, " union all ")})
      union
      ${steps}
    )
  `;
  return { name, search, table };
}

function startTerm(
  writer: Writer,
  { root, arrival, inlinedGuards, at }: Start,
  hasDefinite: boolean,
): Fragment {
  const start = sql`select ${integer(root.id)}, ${at.id} collate "C", ${at.level}`;
  const inlinedGuard = inlinedGuards.length > 0 ? sql`, 0` : sql``;
  const definite = hasDefinite ? sql`, true` : sql``;
  const passed = passage(writer, arrival, at);
  switch (passed.kind) {
    case "open":
      return sql`${start}${definite}${inlinedGuard}`;
    case "exact":
      return sql`${start}${definite}${inlinedGuard} where ${passed.holds}`;
    case "verdict":
      return sql`
        ${start}, g.v = 2${inlinedGuard} from (select ${passed.value} as v offset 0) g where g.v > 0
      `;
  }
}

/** From each row of the search to the next ones, which enter if their arrival guards hold. */
function stepTerm(
  writer: Writer,
  search: Search,
  names: { readonly name: Fragment; readonly next: Fragment; readonly inlinedGuard: Fragment },
): Fragment {
  const { row } = search;
  const { name, next, inlinedGuard } = names;
  const branches = lateralBranches(hopBranches(writer, search));
  const at: ReachedEntity = { id: sql`${next}.id`, level: nextLevel(sql`${row}.level`) };
  const targets = new Set(search.states.flatMap((state) => state.hops.map((hop) => hop.target)));
  const guarded = search.states.filter(
    (state) => state.arrival.length > 0 && targets.has(state.id),
  );
  const passages = guarded.map((state) => ({
    state: state.id,
    passed: passage(writer, state.arrival, at),
  }));
  const conditions = passages.flatMap(({ state, passed }) =>
    passed.kind === "exact" ? [sql`when ${integer(state)} then ${passed.holds}`] : [],
  );
  const verdicts = passages.flatMap(({ state, passed }) =>
    passed.kind === "verdict" ? [{ state, value: passed.value }] : [],
  );
  const verdict = byState(sql`${next}.state`, verdicts, targets.size);
  const doubt =
    verdicts.length === 0
      ? sql``
      : sql`cross join lateral (select coalesce(${verdict}, 2) as v offset 0) g`;
  const where = [
    ...(conditions.length === 0
      ? []
      : [sql`case ${next}.state ${join(conditions, " ")} else true end`]),
    ...(verdicts.length === 0 ? [] : [sql`g.v > 0`]),
  ];
  const definite = verdicts.length === 0 ? sql`` : sql` and g.v = 2`;
  const columns = search.hasDefinite
    ? sql`${next}.state, ${next}.id, ${at.level}, ${row}.sure and ${next}.sure${definite}${inlinedGuard}`
    : sql`${next}.state, ${next}.id, ${at.level}${inlinedGuard}`;
  const filter = where.length === 0 ? sql`` : sql`where ${join(where, " and ")}`;
  return sql`
    select ${columns}
    from ${name} ${row}
    cross join ${branches} ${next}
    ${doubt}
    ${filter}
  `;
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

/** True when some guard of the search can be unknown. */
function isInDoubt(writer: Writer, start: Start, states: readonly State[]): boolean {
  const targets = new Set(states.flatMap((state) => state.hops.map((hop) => hop.target)));
  const guards = [
    ...start.arrival,
    ...states.flatMap((state) => state.hops.flatMap((hop) => hop.guards)),
    ...states.filter((state) => targets.has(state.id)).flatMap((state) => state.arrival),
  ];
  return guards.some((guard) => !writer.exact.has(guard.state));
}

/** The result of a search: columns to `select` from `rows`, which gives one row. */
export interface SearchAnswer {
  readonly verdict: Fragment;
  /** How many nodes were visited until then. */
  readonly nodes: Fragment;
  readonly rows: Fragment;
}

/**
 * Reads the rows of a search in their order, and no further than the first one that decides. `seen`
 * gathers the verdicts up to there as bits, two for the search and two for each inlined guard.
 * The window ends before the current row: a window with the current row would read one row ahead.
 */
function answerOf(
  table: { readonly name: Fragment; readonly row: Fragment },
  rowVerdict: Fragment,
  inlinedGuards: readonly InlinedGuardReading[],
): SearchAnswer {
  const { name, row } = table;
  const hasInlinedGuards = inlinedGuards.length > 0;
  const columns = hasInlinedGuards ? sql`, ${row}.goal, ${row}.level` : sql``;
  const atEnd = hasInlinedGuards ? sql`, 0, null` : sql``;
  const all = sql`
    select ${rowVerdict} as v${columns}, false as is_end
    from ${name} ${row}
    union all
    select 0${atEnd}, true
  `;
  const bits = hasInlinedGuards ? sql`(f.v << f.goal)` : sql`f.v`;
  const decided = join(
    inlinedGuards.map((inlinedGuard) => sql`, ${inlinedGuard.isDecided}`),
    "",
  );
  const accepted = join(
    [sql`r.seen & 2 <> 0`, ...inlinedGuards.map((inlinedGuard) => inlinedGuard.isSettled)],
    " and ",
  );
  const ends = join(
    [sql`r.is_end`, accepted, ...inlinedGuards.map((inlinedGuard) => inlinedGuard.denies)],
    " or ",
  );
  return {
    verdict: least([seenVerdict(0), ...inlinedGuards.map((inlinedGuard) => inlinedGuard.verdict)]),
    nodes: sql`r.n - r.is_end::int`,
    rows: sql`
      from (
        select f.is_end, coalesce(bit_or(${bits}) over w, 0) | ${bits} as seen,
          row_number() over w as n${decided}
        from (${all}) f
        window w as (rows between unbounded preceding and 1 preceding)
      ) r
      where ${ends}
      limit 1
    `,
  };
}

function least(verdicts: readonly Fragment[]): Fragment {
  const all = join(verdicts, ", ");
  return verdicts.length === 1 ? all : sql`least(${all})`;
}
