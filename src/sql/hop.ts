import type { GuardedHop, Hop, State } from "../plan/plan.ts";
import { type Fragment, integer, literal, sql, textArray } from "./fragment.ts";
import { passage } from "./guard.ts";
import { relationProbe, type RelationSet } from "./relation-set.ts";
import type { Search } from "./search.ts";
import { byState, type Place, type Writer } from "./writer.ts";

interface StateHop {
  readonly state: State;
  readonly hop: GuardedHop;
}

/**
 * The branches that lead from a row of the search to the next ones: columns (state, id[, sure]).
 * Every branch costs its start-up even when it is never taken, so the hops of different states
 * share branches: the first walk of each state is one branch, the second ones another.
 * Usersets are followed from the entity only when the closure from the subject is incomplete.
 */
export function hopBranches(writer: Writer, search: Search): Fragment[] {
  const hops = search.states.flatMap((state) => state.hops.map((hop) => ({ state, hop })));
  const open = hops.filter(({ hop }) => hop.guards.length === 0);
  const guarded = hops.filter(({ hop }) => hop.guards.length > 0);
  return [
    ...layers(open, "walk").map((layer) => branch(writer, search, layer)),
    ...layers(open, "userset").map((layer) => branch(writer, search, layer)),
    ...guarded.map((hop) => guardedBranch(writer, search, hop)),
  ];
}

/** The i-th hop of that kind of every state, for each i. */
function layers(hops: readonly StateHop[], kind: Hop["kind"]): StateHop[][] {
  const layered: StateHop[][] = [];
  const depths = new Map<number, number>();
  for (const hop of hops) {
    if (hop.hop.hop.kind !== kind) continue;
    const depth = depths.get(hop.state.id) ?? 0;
    depths.set(hop.state.id, depth + 1);
    (layered[depth] ??= []).push(hop);
  }
  return layered;
}

function branch(writer: Writer, search: Search, layer: readonly StateHop[]): Fragment {
  const sure = search.hasSure ? sql`, true as sure` : sql``;
  const columns = sql`${targetState(search, layer)} as state, r.subject_id as id${sure}`;
  return layerProbe(writer, search, columns, layer);
}

/** A hop behind guards of its own, which are judged at the entity that it starts from. */
function guardedBranch(writer: Writer, search: Search, hop: StateHop): Fragment {
  const at: Place = { id: sql`${search.row}.id`, level: sql`${search.row}.level` };
  const passed = passage(writer, hop.hop.guards, at);
  const columns = sql`${targetState(search, [hop])} as state, r.subject_id as id`;
  const probe = layerProbe(writer, search, columns, [hop]);
  const isHere = sql`${search.row}.state = ${integer(hop.state.id)}`;
  switch (passed.kind) {
    case "open":
    case "exact": {
      const sure = search.hasSure ? sql`, true as sure` : sql``;
      const holds = passed.kind === "open" ? isHere : sql`${isHere} and ${passed.holds}`;
      return sql`select h.state, h.id${sure} from (${probe}) h where ${holds}`;
    }
    case "verdict":
      return sql`select h.state, h.id, g.v = 2 as sure from (select case when ${isHere} then ${passed.value} else 0 end as v offset 0) g cross join lateral (${probe}) h where g.v > 0`;
  }
}

function targetState(search: Search, layer: readonly StateHop[]): Fragment {
  return perState(search, layer, ({ hop }) => integer(hop.target));
}

function layerProbe(
  writer: Writer,
  search: Search,
  columns: Fragment,
  layer: readonly StateHop[],
): Fragment {
  const relations: RelationSet = layer.every(({ hop }) => hop.hop.relations.length === 1)
    ? {
        kind: "one",
        name: perState(search, layer, ({ hop }) => literal(hop.hop.relations[0] ?? "")),
      }
    : {
        kind: "several",
        names: perState(search, layer, ({ hop }) => textArray(hop.hop.relations)),
      };
  const entityType = perState(search, layer, ({ state }) => literal(state.entityType));
  const subjectType = perState(search, layer, ({ hop }) => literal(hop.hop.subjectType));
  const where = sql`r.entity_id = ${search.row}.id and r.entity_type = ${entityType} and r.subject_type = ${subjectType}`;
  if (layer.some(({ hop }) => hop.hop.kind === "walk")) {
    return relationProbe(writer.scope, columns, relations, where);
  }
  const subjectRelation = perState(search, layer, ({ hop }) =>
    literal(hop.hop.kind === "userset" ? hop.hop.subjectRelation : ""),
  );
  return relationProbe(
    writer.scope,
    columns,
    relations,
    sql`(select c.capped from closed c) and ${where} and r.subject_relation = ${subjectRelation}`,
  );
}

function perState(
  search: Search,
  layer: readonly StateHop[],
  value: (hop: StateHop) => Fragment,
): Fragment {
  return byState(
    sql`${search.row}.state`,
    layer.map((hop) => ({ state: hop.state.id, value: value(hop) })),
    search.states.length,
  );
}
