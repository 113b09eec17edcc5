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
  /** The verdict of the guard at the row `found`. */
  readonly verdict: Fragment;
  /** A condition on the row `s` of `span`: all of the subjects were read, and no path to them is too long. */
  readonly isWhole: Fragment;
}

/**
 * A search for each candidate costs as much as following or reading this many usersets and subjects for each.
 * Of more, the searches cost less.
 */
const readForEach = 20;
/** As many may be read for a few candidates, too. */
const readForAll = 100;

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
  const accepted = numbered("accepted", guard.id);
  const { subjectType, subjectRelation } = writer.plan.question;
  const direct = search.states.flatMap((state) =>
    state.tests.flatMap(({ test }) =>
      test.kind === "direct" ? [{ state, relations: test.relations }] : [],
    ),
  );
  const states = { column: sql`${search.row}.state`, count: search.states.length };
  const { relations, entityType } = sharedNames(states, direct);
  const members = tupleIdsAmong(writer.scope, amongCandidates, relations, {
    end: "subject",
    entityType,
    entityId: sql`${search.row}.id`,
    subjectType: literal(subjectType),
    subjectRelation: literal(subjectRelation),
  });
  const readMax = (span: Fragment): Fragment =>
    sql`${integer(readForEach)} * ${span}.candidates + ${integer(readForAll)}`;
  return {
    tables: [
      table,
      // A userset without members is a row, too, since following it costs as much.
      sql`
        ${accepted}(id, near) as materialized (
          select p.id, ${hops(sql`${search.row}.level`)} <= ${depth}
          from span
          cross join ${name} ${search.row}
          left join lateral (select q.id from (${members}) q offset 0) p on true
          limit (select ${readMax(sql`span`)} + 1 from span)
        )
      `,
    ],
    verdict: sql`
      case
        when (found.id in (select a.id from ${accepted} a where a.id is not null)) is true then 2
        else 0
      end
    `,
    isWhole: sql`
      (
        select count(*) <= ${readMax(sql`s`)} and coalesce(bool_and(a.near), true)
        from ${accepted} a
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
