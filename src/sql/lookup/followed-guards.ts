import { must } from "../../base/assert.ts";
import type { SearchPlan, State } from "../../plan/plan.ts";
import { followedSearch } from "../search/search.ts";
import { sharedNames } from "../search/state-names.ts";
import { asksForUsersets } from "../search/userset-guard.ts";
import { depth, hops, numbered, type Writer } from "../search/writer.ts";
import { type Fragment, integer, literal, sql } from "../text/fragment.ts";
import { tupleIdsAmong } from "./candidate.ts";
import { amongCandidates } from "./guard-sets.ts";

/**
 * The subjects that a guard accepts at the entity, its usersets included: these are followed from the entity,
 * and their members are read, up to the last candidate. So no candidate needs a search of its own usersets.
 */
export interface FollowedGuard {
  /** CTEs, which read the CTEs `found` and `span`. */
  readonly tables: readonly Fragment[];
  /** The verdict of the guard at the row `found`, if all of the subjects were read. */
  readonly verdict: Fragment;
  readonly isWhole: Fragment;
}

/** The most usersets that are followed. */
const usersetsMax = 100;
/** A search for each candidate costs as much as reading this many subjects for each. Of more, the searches cost less. */
const subjectsForEach = 20;
/** As many may be read for a few candidates, too. */
const subjectsForAll = 100;

/** Whether a guard and all it leads to ask for usersets and for tuples to the subject alone. */
export function canBeFollowed(writer: Writer, guard: State): boolean {
  return (
    asksForUsersets(writer, guard) &&
    statesFrom(writer.plan, guard).every(
      ({ arrival, tests, hops: ways }) =>
        arrival.length === 0 &&
        tests.every(({ guards, test }) => guards.length === 0 && test.kind === "direct") &&
        ways.every(({ guards, hop }) => guards.length === 0 && hop.kind === "userset"),
    )
  );
}

export function followedGuard(writer: Writer, guard: State, entityId: Fragment): FollowedGuard {
  const { name, search, table } = followedSearch(writer, guard, entityId);
  const led = numbered("led", guard.id);
  const accepted = numbered("accepted", guard.id);
  const { subjectType, subjectRelation } = writer.plan.question;
  const direct = search.states.flatMap((state) =>
    state.tests.flatMap(({ test }) =>
      test.kind === "direct" ? [{ state, relations: test.relations }] : [],
    ),
  );
  const states = { column: sql`${led}.state`, count: search.states.length };
  const { relations, entityType } = sharedNames(states, direct);
  const members = tupleIdsAmong(writer.scope, amongCandidates, relations, {
    end: "subject",
    entityType,
    entityId: sql`${led}.id`,
    subjectType: literal(subjectType),
    subjectRelation: literal(subjectRelation),
  });
  const subjectsMax = sql`${integer(subjectsForEach)} * span.candidates + ${integer(subjectsForAll)}`;
  const among = (where: Fragment): Fragment =>
    sql`(found.id in (select a.id from ${accepted} a ${where})) is true`;
  return {
    tables: [
      table,
      sql`
        ${led} as materialized (
          select s.state, s.id, s.level
          from ${name} s
          limit ${integer(usersetsMax + 2)}
        )
      `,
      // The offset keeps the planner from a join that begins with all tuples of the tenant.
      sql`
        ${accepted}(id, near) as materialized (
          select p.id, ${hops(sql`${led}.level`)} <= ${depth}
          from span
          cross join ${led}
          cross join lateral (select q.id from (${members}) q offset 0) p
          limit (select ${subjectsMax} + 1 from span)
        )
      `,
    ],
    verdict: sql`
      case
        when ${among(sql``)} then case when ${among(sql`where a.near`)} then 2 else 1 end
        else 0
      end
    `,
    isWhole: sql`
      (
        (select count(*) from ${led}) <= ${integer(usersetsMax + 1)}
        and (select count(*) from ${accepted}) <= (select ${subjectsMax} from span)
      )
    `,
  };
}

function statesFrom({ states }: SearchPlan, guard: State): State[] {
  const reached = new Set([guard]);
  for (const state of reached) {
    for (const { target } of state.hops) {
      reached.add(must(states[target], "a hop leads to a state"));
    }
  }
  return [...reached];
}
