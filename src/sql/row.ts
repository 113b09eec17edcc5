import type { GuardedTest, State } from "../plan/plan.ts";
import { closedLevel, isClosed } from "./closure.ts";
import { type Fragment, integer, join, literal, sql, textArray } from "./fragment.ts";
import { passage } from "./guard.ts";
import { relationProbe, type RelationSet } from "./relation-set.ts";
import type { Search } from "./search.ts";
import { directHolds, greatest, guardedVerdict, isExact } from "./test.ts";
import { byState, depth, hops, type Place, type Writer } from "./writer.ts";

/**
 * The verdict of one row of a search: whether a test accepts there, and whether that is sure. The
 * direct tuples come first; the closure from the subject is not even begun while they answer.
 */
export function rowVerdict(writer: Writer, search: Search): Fragment {
  const sure = search.hasSure ? sql`${search.row}.sure and ` : sql``;
  const most = sql`case when ${sure}${hops(sql`${search.row}.level`)} <= ${depth} then 2 else 1 end`;
  const rest = greatest([
    ...closureVerdicts(writer, search, sure),
    ...otherVerdicts(writer, search).map((verdict) => sql`least(${verdict}, ${most})`),
  ]);
  const exact = exactConditions(writer, search);
  if (exact.length === 0) return rest;
  return sql`case when ${join(exact, " or ")} then ${most} else ${rest} end`;
}

interface StateTest {
  readonly state: State;
  readonly test: GuardedTest;
}

function allTests(search: Search): StateTest[] {
  return search.states.flatMap((state) => state.tests.map((test) => ({ state, test })));
}

/** Tests that say yes or no. The unguarded direct tests of all states are one probe. */
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
        sql`(${isAt(search, state)} and ${guardedVerdict(writer, state, test, place(search))} = 2)`,
    ),
  ];
}

function openDirect(writer: Writer, search: Search, tests: readonly StateTest[]): Fragment[] {
  const direct = tests.flatMap(({ state, test }) =>
    test.test.kind === "direct" ? [{ state, relations: test.test.relations }] : [],
  );
  if (direct.length === 0) return [];
  const entityType = perState(search, direct, ({ state }) => literal(state.entityType));
  const relations = relationsOf(search, direct);
  return [directHolds(writer, { id: sql`${search.row}.id`, entityType, relations })];
}

/** Attributes, rules, and tests behind guards that can be unknown. */
function otherVerdicts(writer: Writer, search: Search): Fragment[] {
  return allTests(search)
    .filter(({ test }) => !isExact(writer, test))
    .map(({ state, test }) => {
      const verdict = guardedVerdict(writer, state, test, place(search));
      return sql`case when ${isAt(search, state)} then ${verdict} else 0 end`;
    });
}

interface ClosedHop {
  readonly state: State;
  readonly relations: readonly string[];
  readonly userset: number;
}

/**
 * The usersets of an entity that the closure from the subject holds: one probe for each kind of
 * userset, behind guards one for each hop.
 */
function closureVerdicts(writer: Writer, search: Search, sure: Fragment): Fragment[] {
  // What is only reached through usersets is only reached when the closure is incomplete.
  const entered = new Set([
    ...search.roots.map((root) => root.id),
    ...search.states.flatMap((state) =>
      state.hops.filter(({ hop }) => hop.kind === "walk").map(({ target }) => target),
    ),
  ]);
  const found = search.states
    .filter((state) => entered.has(state.id))
    .flatMap((state) =>
      state.hops.flatMap(({ guards, hop }) =>
        hop.kind === "userset"
          ? [{ state, guards, relations: hop.relations, userset: hop.userset }]
          : [],
      ),
    );
  const open = Map.groupBy(
    found.filter(({ guards }) => guards.length === 0),
    (hop) => hop.userset,
  );
  const guarded = found
    .filter(({ guards }) => guards.length > 0)
    .map((hop) => {
      const verdict = closureVerdict(writer, search, [hop], sure);
      const passed = passage(writer, hop.guards, place(search));
      const isHere = isAt(search, hop.state);
      return passed.kind === "verdict"
        ? sql`case when ${isHere} then least(${passed.value}, ${verdict}) else 0 end`
        : sql`case when ${isHere}${passed.kind === "exact" ? sql` and ${passed.holds}` : sql``} then ${verdict} else 0 end`;
    });
  return [
    ...[...open.values()].map((same) => closureVerdict(writer, search, same, sure)),
    ...guarded,
  ];
}

function closureVerdict(
  writer: Writer,
  search: Search,
  sameUserset: readonly ClosedHop[],
  sure: Fragment,
): Fragment {
  const index = sameUserset[0]?.userset ?? 0;
  const userset = writer.plan.usersets[index];
  if (userset === undefined) return sql`0`;
  const entityType = perState(search, sameUserset, ({ state }) => literal(state.entityType));
  const probe = relationProbe(
    writer.scope,
    sql`r.subject_id as id`,
    relationsOf(search, sameUserset),
    sql`r.entity_id = ${search.row}.id and r.entity_type = ${entityType} and r.subject_type = ${literal(userset.entityType)} and r.subject_relation = ${literal(userset.relation)} and ${isClosed(writer.plan, index, sql`r.subject_id`)}`,
  );
  const level = sql`${hops(sql`${search.row}.level`)} + 1 + min(${closedLevel(writer.plan, index, sql`d.id`)})`;
  return sql`coalesce((select case when ${sure}${level} <= ${depth} then 2 else 1 end from (${probe}) d having count(*) > 0), 0)`;
}

function relationsOf(
  search: Search,
  entries: readonly { readonly state: State; readonly relations: readonly string[] }[],
): RelationSet {
  return entries.every(({ relations }) => relations.length === 1)
    ? {
        kind: "one",
        name: perState(search, entries, ({ relations }) => literal(relations[0] ?? "")),
      }
    : {
        kind: "several",
        names: perState(search, entries, ({ relations }) => textArray(relations)),
      };
}

function perState<T extends { readonly state: State }>(
  search: Search,
  entries: readonly T[],
  value: (entry: T) => Fragment,
): Fragment {
  return byState(
    sql`${search.row}.state`,
    entries.map((entry) => ({ state: entry.state.id, value: value(entry) })),
    search.states.length,
  );
}

function isAt(search: Search, state: State): Fragment {
  return search.states.length === 1 ? sql`true` : sql`${search.row}.state = ${integer(state.id)}`;
}

function place(search: Search): Place {
  return { id: sql`${search.row}.id`, level: sql`${search.row}.level` };
}
