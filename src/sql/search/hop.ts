import type { GuardedHop, Hop, State } from "../../plan/plan.ts";
import { type EntityEnd, relationProbe } from "../state/relation-set.ts";
import { type Fragment, integer, sql } from "../text/fragment.ts";
import { isClosed, isCutOff } from "./closure.ts";
import { passage } from "./guard.ts";
import { nameOf, ranksOf, sharedNames, type SearchStates } from "./state-names.ts";
import { byState, type ReachedEntity, type Search, type Writer } from "./writer.ts";

interface StateHop {
  readonly state: State;
  readonly hop: GuardedHop;
}

/**
 * The branches that lead from a row of the search to the next ones: columns (state, id[, sure]).
 * Every branch costs its start-up even when it is never taken, so the hops of different states
 * share branches: the first walk of each state is one branch, the second ones another.
 */
export function hopBranches(writer: Writer, search: Search): Fragment[] {
  const hops = search.states.flatMap((state) => state.hops.map((hop) => ({ state, hop })));
  const open = hops.filter(({ hop }) => hop.guards.length === 0);
  const guarded = hops.filter(({ hop }) => hop.guards.length > 0);
  return [
    ...hopRanks(open, "walk").map((rank) => branch(writer, search, rank)),
    ...hopRanks(open, "userset").map((rank) => branch(writer, search, rank)),
    ...guarded.map((hop) => guardedBranch(writer, search, hop)),
  ];
}

/** The number of the first state that stands for a userset of the closure, see `closedState`. */
export function firstClosedState(writer: Writer): number {
  return writer.plan.states.length;
}

/**
 * A userset of the closure from the subject is a state of its own, one for each kind of userset. The
 * subject is in it, so no hop leads on from it.
 */
function closedState(writer: Writer, userset: number): number {
  return firstClosedState(writer) + userset;
}

function hopRanks(hops: readonly StateHop[], kind: Hop["kind"]): StateHop[][] {
  return ranksOf(
    hops.filter(({ hop }) => hop.hop.kind === kind),
    ({ state }) => state.id,
  );
}

function branch(writer: Writer, search: Search, rank: readonly StateHop[]): Fragment {
  return rankProbe(writer, search, rank, search.hasDefinite ? sql`, true as sure` : sql``);
}

/** A hop behind guards of its own, which are judged at the entity that it starts from. */
function guardedBranch(writer: Writer, search: Search, hop: StateHop): Fragment {
  const at: ReachedEntity = { id: sql`${search.row}.id`, level: sql`${search.row}.level` };
  const passed = passage(writer, hop.hop.guards, at);
  const probe = rankProbe(writer, search, [hop], sql``);
  const isHere = sql`${search.row}.state = ${integer(hop.state.id)}`;
  switch (passed.kind) {
    case "open":
    case "exact": {
      const definite = search.hasDefinite ? sql`, true as sure` : sql``;
      const holds = passed.kind === "open" ? isHere : sql`${isHere} and ${passed.holds}`;
      return sql`select h.state, h.id${definite} from (${probe}) h where ${holds}`;
    }
    case "verdict":
      return sql`
        select h.state, h.id, g.v = 2 as sure
        from (select case when ${isHere} then ${passed.value} else 0 end as v offset 0) g
        cross join lateral (${probe}) h
        where g.v > 0
      `;
  }
}

function rankProbe(
  writer: Writer,
  search: Search,
  rank: readonly StateHop[],
  definite: Fragment,
): Fragment {
  const states: SearchStates = { column: sql`${search.row}.state`, count: search.states.length };
  const { relations, entityType } = sharedNames(
    states,
    rank.map(({ state, hop }) => ({ state, relations: hop.hop.relations })),
  );
  const subjectType = nameOf(
    states,
    rank.map(({ state, hop }) => ({ state: state.id, name: hop.hop.subjectType })),
  );
  return relationProbe(
    writer.scope,
    sql`${targetState(writer, states, rank)} as state, r.subject_id as id${definite}`,
    relations,
    { type: entityType, id: sql`${search.row}.id`, subject: subjectOf(subjectType, states, rank) },
    isLed(writer, states, rank),
  );
}

/** `rank` is of one kind: a walk follows every subject of the type. */
function subjectOf(
  type: Fragment,
  states: SearchStates,
  rank: readonly StateHop[],
): EntityEnd["subject"] {
  const usersets = usersetsOf(rank);
  if (usersets.length === 0) return { known: "type", type };
  const names = usersets.map(({ state, hop }) => ({ state, name: hop.subjectRelation }));
  return { known: "kind", type, relation: nameOf(states, names) };
}

/** If the closure from the subject is complete, only its usersets lead on from those of an entity. */
function isLed(writer: Writer, states: SearchStates, rank: readonly StateHop[]): Fragment {
  const usersets = usersetsOf(rank);
  if (usersets.length === 0 || writer.usersets !== "of subject") return sql``;
  const userset = numberOf(
    states,
    usersets.map(({ state, hop }) => ({ state, number: hop.userset })),
  );
  return sql`and (${isCutOff} or ${isClosed(writer.plan, userset, sql`r.subject_id`)})`;
}

interface StateUserset {
  readonly state: number;
  readonly hop: Extract<Hop, { kind: "userset" }>;
}

function usersetsOf(rank: readonly StateHop[]): StateUserset[] {
  return rank.flatMap(({ state, hop: { hop } }) =>
    hop.kind === "userset" ? [{ state: state.id, hop }] : [],
  );
}

function targetState(writer: Writer, states: SearchStates, rank: readonly StateHop[]): Fragment {
  const target = numberOf(
    states,
    rank.map(({ state, hop }) => ({ state: state.id, number: hop.target })),
  );
  const closed = rank.flatMap(({ state, hop: { hop } }) =>
    hop.kind === "userset" ? [{ state: state.id, number: closedState(writer, hop.userset) }] : [],
  );
  if (closed.length === 0 || writer.usersets === "followed") return target;
  const userset = numberOf(states, closed);
  if (writer.usersets === "to be asked") return userset;
  return sql`case when ${isCutOff} then ${target} else ${userset} end`;
}

/** A number by the state of a row. The probe found something for the row, so its state has an entry. */
function numberOf(
  states: SearchStates,
  entries: readonly { readonly state: number; readonly number: number }[],
): Fragment {
  const values = entries.map(({ state, number }) => ({ state, value: integer(number) }));
  return byState(states.column, values, entries.length);
}
