import { must } from "../../base/assert.ts";
import type { CandidatePlan, CandidateTest } from "../../plan/passes/5-drop-guards.ts";
import { relationsWith } from "../../plan/relations-with.ts";
import { openRules } from "../function/open-rules.ts";
import {
  type FunctionKind,
  type FunctionPlans,
  argument,
  functionScope,
} from "../function/plan-function.ts";
import type { EntityCandidates } from "../lookup/accepted-ids.ts";
import { allCandidates, type IdReading, whole } from "../lookup/candidate.ts";
import { entityCandidates, searchedBack } from "../lookup/entity-candidates.ts";
import { scopedTypes } from "../lookup/scoped-types.ts";
import { searchWriter } from "../search/search-writer.ts";
import { type Fragment, join, sql } from "../text/fragment.ts";

/**
 * What a subject reaches on the way to the entities, without the last step: the rows of the search
 * `back` as arrays. Arguments are the id of the subject and how many rows are read at most (null: all).
 */
export const reachKind: FunctionKind = {
  name: "reach",
  arguments: ["text", "integer"],
  returns: "table(states integer[], ids text[], levels numeric[], sures boolean[])",
  estimate: "rows 1",
  query: (plans) => {
    const input = candidatesFor(plans, whole);
    return sql`
      with recursive ${join([...input.limits.tables, searchedBack(input)], ", ")}
      select array_agg(b.state), array_agg(b.id), array_agg(b.level), array_agg(b.sure)
      from (select * from back limit ${argument(2)}) b
    `;
  },
};

/** The types of the arguments that say what was reached, in their order. */
export const reachedTypes = ["integer[]", "text[]", "numeric[]", "boolean[]"];

/**
 * The ids that a subject may see: arguments are the id of the subject, what it reaches, and how many
 * ids are read at most, with repeats (null: all). If there are more, the result is null, and so it is
 * when ids may be allowed that no tuple and no attribute has. Not all of the ids are allowed.
 */
export const fewKind: FunctionKind = {
  name: "few",
  arguments: ["text", ...reachedTypes, "integer"],
  returns: "text[]",
  estimate: "cost 1000",
  query: (plans) => {
    if (acceptsUnknown(plans)) return sql`select null::text[]`;
    const most = argument(6);
    const reading: IdReading = {
      wanted: whole.wanted,
      gathered: (branches) =>
        join(
          branches.map(({ query }) => sql`(${query} limit ${most} + 1)`),
          " union all ",
        ),
      gatheredTwice: whole.gatheredTwice,
    };
    const input = { ...candidatesFor(plans, reading), back: readBack };
    const { tables, candidates } = entityCandidates(input);
    const found = sql`
      found as materialized (
        select c.id from (${allCandidates(candidates)}) c
        limit ${most} + 1
      )
    `;
    return sql`
      with recursive ${join([...tables, found], ", ")}
      select case
        when ${most} is null or (select count(*) from found) <= ${most}
          then array(select f.id from found f group by f.id)
      end
    `;
  },
};

/** Whether ids may be allowed that only the table of the list knows. */
function acceptsUnknown({ candidatePlan }: FunctionPlans): boolean {
  return testsOfUnknown(candidatePlan).length > 0;
}

/**
 * The tests of the question itself that may hold for an entity without tuples and attributes. No search
 * finds such an entity.
 */
export function testsOfUnknown(candidatePlan: CandidatePlan): readonly CandidateTest[] {
  const rules = openRules(candidatePlan);
  const root = must(candidatePlan.states.get(0), "a plan has its question");
  return root.tests.filter(({ test }) => test.kind === "rule" && rules.has(test.rule.name));
}

/** The rows of `back` from the arguments of a function. */
export const readBack: Fragment = sql`
  back(state, id, level, sure) as materialized (
    select u.state, u.id collate "C", u.level, u.sure
    from unnest(
      ${argument(2)}, ${argument(3)}, ${argument(4)}, ${argument(5)}
    ) u(state, id, level, sure)
  )
`;

/** A search of entities for the subject in the first argument. */
export function candidatesFor(
  { plan, candidatePlan, schema }: FunctionPlans,
  reading: IdReading,
): EntityCandidates & { readonly writer: ReturnType<typeof searchWriter> } {
  const subjectId = sql`${argument(1)} collate "C"`;
  return {
    scope: functionScope,
    candidatePlan,
    subjectId,
    reading,
    writer: searchWriter(functionScope, plan, subjectId),
    openRules: openRules(candidatePlan),
    limits: scopedTypes([]),
    relationsWith: relationsWith(schema),
  };
}
