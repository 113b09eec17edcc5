import { must } from "../base/assert.ts";
import type { Guard, State } from "../plan/plan.ts";
import { type Fragment, integer, join, literal, sql } from "./fragment.ts";
import { relationProbe, relationSet } from "./relation-set.ts";
import type { Writer } from "./writer.ts";

/**
 * Goals: guards of the question that ride in its own search instead of in one of their own, which
 * would cost some twenty plan nodes (90 of 300 microseconds for `(...) not banned`). Such a guard
 * asks for tuples and usersets alone, so while the closure from the subject is complete its one
 * row, the first of the search, has its verdict; only else do rows of it follow among the others.
 */
export function splitGoals(
  writer: Writer,
  root: State,
  reached: readonly State[],
): { readonly goals: readonly Guard[]; readonly arrival: readonly Guard[] } {
  const isEnteredAgain = reached.some((state) => state.hops.some((hop) => hop.target === root.id));
  if (isEnteredAgain) return { goals: [], arrival: root.arrival };
  const isGoal = (guard: Guard): boolean => {
    const state = writer.plan.states[guard.state];
    return state !== undefined && asksForUsersets(writer, state);
  };
  return {
    goals: root.arrival.filter(isGoal),
    arrival: root.arrival.filter((guard) => !isGoal(guard)),
  };
}

function asksForUsersets(writer: Writer, state: State): boolean {
  return (
    state.arrival.length === 0 &&
    state.hops.length > 0 &&
    state.hops.every(({ guards, hop }) => hop.kind === "userset" && guards.length === 0) &&
    state.tests.every(
      ({ guards, test }) => guards.length === 0 && (test.kind === "direct" || test.kind === "self"),
    ) &&
    !writer.exact.has(state.id)
  );
}

/**
 * The goals and the search behind them as one row (v, n), from `verdicts` with (v, n, goal): goal 0
 * is the search, the others are numbered from 1 in the order of their rows.
 */
export function goalVerdict(writer: Writer, goals: readonly Guard[], entityId: Fragment): Fragment {
  const first = integer(goals.length);
  const verdicts = goals.map((guard, index) => {
    const isOwn = sql`f.goal = ${integer(index + 1)}`;
    const all = sql`(select max(f.v) from verdicts f where ${isOwn})`;
    const own = sql`(select f.v from (select * from verdicts limit ${first}) f where ${isOwn})`;
    const isOpen = sql`${hasUsersets(writer, guard, entityId)} and (select c.capped from closed c)`;
    const found = sql`coalesce(case when ${isOpen} then ${all} else ${own} end, 0)`;
    return guard.polarity === "required" ? found : sql`2 - ${found}`;
  });
  const passed = verdicts.length === 1 ? join(verdicts, "") : sql`least(${join(verdicts, ", ")})`;
  const own = sql`f.goal = 0`;
  return sql`select case when g.v = 0 then 0 else least(g.v, m.v) end as v, m.n from (select ${passed} as v offset 0) g cross join lateral ((select f.v, f.n from verdicts f where g.v > 0 and f.v = 2 and ${own}) union all (select coalesce(max(f.v), 0), count(*) from verdicts f where g.v > 0 and ${own}) limit 1) m`;
}

/** Whether the entity has a userset that the guard asks for: else the closure does not matter. */
function hasUsersets(writer: Writer, guard: Guard, entityId: Fragment): Fragment {
  const state = must(writer.plan.states[guard.state], "a guard has a state");
  const probes = state.hops.flatMap(({ hop }) =>
    hop.kind === "userset"
      ? [
          relationProbe(
            writer.scope,
            sql`1`,
            relationSet(hop.relations),
            sql`r.entity_id = ${entityId} and r.entity_type = ${literal(state.entityType)} and r.subject_type = ${literal(hop.subjectType)} and r.subject_relation = ${literal(hop.subjectRelation)}`,
          ),
        ]
      : [],
  );
  return sql`(${join(
    probes.map((probe) => sql`exists (select 1 from (${probe}) e offset 0)`),
    " or ",
  )})`;
}

/** The start rows of the goals, which come before that of the search itself. */
export function goalStarts(
  goals: readonly Guard[],
  at: { readonly id: Fragment; readonly level: Fragment },
  hasSure: boolean,
): Fragment[] {
  const sure = hasSure ? sql`, true` : sql``;
  return goals.map(
    (guard, index) =>
      sql`select ${integer(guard.state)}, ${at.id} collate "C", ${at.level}${sure}, ${integer(index + 1)}`,
  );
}
