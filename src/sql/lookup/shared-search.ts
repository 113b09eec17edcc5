import type { Schema } from "../../language/schema.ts";
import type { CandidatePlan, CandidateState } from "../../plan/passes/5-drop-guards.ts";
import type { SearchPlan } from "../../plan/plan.ts";
import { withClosure, searchWriter } from "../search/search-writer.ts";
import { questionVerdict } from "../search/search.ts";
import type { StatementScope } from "../state/source.ts";
import { type Fragment, integer, sql } from "../text/fragment.ts";
import { verdictsFromEntity } from "./from-entity.ts";
import { verdictsFromBothEnds, verdictsFromSubject } from "./from-subject.ts";
import type { SharedAnswers, SharedItems } from "./shared-items.ts";
import { stepsFromSubject } from "./steps-from-subject.ts";

/** What items that have a subject or an entity in common share when they are answered together. */
export type SharedSearch =
  /** What leads to the subject. */
  | {
      readonly of: "subject";
      readonly plan: SearchPlan;
      readonly candidatePlan: CandidatePlan;
      readonly schema: Schema;
    }
  /** What the entity leads to. */
  | { readonly of: "entity"; readonly plan: SearchPlan }
  /** The usersets of the subject. */
  | { readonly of: "usersets"; readonly plan: SearchPlan };

/**
 * From so many items of a subject or an entity on, they cost less together. Below, starting the longer
 * statement takes more than what is shared.
 */
export const sharedItemsMin = 16;

/**
 * So many rows of a shared search are read for each item, at most. A row costs some 10 microseconds, a
 * search of its own 250. If there are more rows, they were read in vain.
 */
const rowsOfItem = 2;

/** What items share that have their subject or their entity in common; undefined if there is nothing. */
export function sharedSearch(
  common: "subject" | "entity",
  plan: SearchPlan,
  candidates: { readonly candidatePlan: CandidatePlan; readonly schema: Schema },
): SharedSearch | undefined {
  if (isPlain(candidates.candidatePlan)) {
    return common === "subject" ? { of: "subject", plan, ...candidates } : { of: "entity", plan };
  }
  return common === "entity" || plan.usersets.length === 0 ? undefined : { of: "usersets", plan };
}

/**
 * Whether tuples alone lead from the subject to the question: no guard and no value stands on the way.
 * Entities with a value may be very many, and behind a guard each item would need a search of its own.
 */
function isPlain(candidatePlan: CandidatePlan): boolean {
  const { root, inner } = stepsFromSubject(candidatePlan);
  const isFromTuples = ({ tests }: CandidateState): boolean =>
    tests.every(
      ({ test, isDefinite }) => isDefinite && (test.kind === "direct" || test.kind === "self"),
    );
  return (
    root.hops.length > 0 &&
    inner.every(isFromTuples) &&
    [root, ...inner].every(({ hops }) => hops.every(({ isDefinite }) => isDefinite))
  );
}

/**
 * The verdicts of items that have few subjects, or few entities: what leads to a subject, or from an
 * entity, is searched once for all of its items. If that is too much, each item has a search of its own.
 * `items`: three arrays, of the ids of the entities and the subjects and of the numbers of the items.
 */
export function sharedVerdicts(
  scope: StatementScope,
  shared: SharedSearch,
  items: Fragment,
): Fragment {
  const common = shared.of === "entity" ? sql`u.id` : sql`u.subject`;
  const other = shared.of === "entity" ? sql`u.subject` : sql`u.id`;
  return sql`
    select a.item, a.v as verdict, a.n as nodes, null::text[] as facts
    from (
      select ${common} collate "C" as id, array_agg(${other}) as others, array_agg(u.item) as items
      from unnest(${items}) as u(id, subject, item)
      group by ${common}
    ) asked
    cross join lateral (${answersOf(scope, shared)}) a
  `;
}

function answersOf(scope: StatementScope, shared: SharedSearch): Fragment {
  const { plan } = shared;
  const parts = {
    scope,
    plan,
    common: sql`asked.id`,
    items: sql`
      select u.id collate "C" as id, u.item
      from unnest(asked.others, asked.items) as u(id, item)
      offset 0
    `,
    rowsMax: sql`${integer(rowsOfItem)} * cardinality(asked.items)`,
  };
  switch (shared.of) {
    case "usersets":
      return eachFromEntity(parts);
    case "subject": {
      const both = verdictsFromBothEnds(parts, shared);
      const searched = eachFromEntity(parts);
      const otherwise = both === undefined ? searched : wholeOr(both, searched);
      return wholeOr(verdictsFromSubject(parts, shared), otherwise);
    }
    case "entity":
      return wholeOr(verdictsFromEntity(parts), eachForSubject(parts));
  }
}

/** Only one of the two runs. */
function wholeOr({ tables, isWhole, answers }: SharedAnswers, otherwise: Fragment): Fragment {
  return sql`
    with recursive ${tables}, is_whole as materialized (select ${isWhole} as v)
    select o.item, o.v, o.n
    from (${answers}) o
    where (select w.v from is_whole w)
    union all
    select o.item, o.v, o.n
    from (${otherwise}) o
    where not (select w.v from is_whole w)
  `;
}

/** Each item by a search from its entity, with the usersets of the subject in common. */
function eachFromEntity({ scope, plan, common, items }: SharedItems): Fragment {
  const verdict = questionVerdict(searchWriter(scope, plan, common), sql`q.id`);
  return sql`
    ${withClosure(scope, plan, common)}
    select q.item, c.v, c.n
    from (${items}) q
    cross join lateral (select x.v, x.n from (${verdict}) x offset 0) c
  `;
}

/** Each item by a search of its own, for its subject. */
function eachForSubject({ scope, plan, common, items }: SharedItems): Fragment {
  const subject = sql`q.id`;
  const verdict = questionVerdict(searchWriter(scope, plan, subject), common);
  return sql`
    select q.item, c.v, c.n
    from (${items}) q
    cross join lateral (
      ${withClosure(scope, plan, subject)}
      select x.v, x.n from (${verdict}) x
    ) c
  `;
}
