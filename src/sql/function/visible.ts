import { relationsWith } from "../../plan/relations-with.ts";
import { allCandidates, allSubjects, whole } from "../lookup/candidate.ts";
import { needsNoCheck } from "../lookup/inner-guards.ts";
import { judgedEntities, judgedSubjects, notDenied } from "../lookup/judged.ts";
import { scopedTypes } from "../lookup/scoped-types.ts";
import { type Fragment, join, sql } from "../text/fragment.ts";
import { openRules } from "./open-rules.ts";
import { argument, type FunctionKind, functionScope } from "./plan-function.ts";

/**
 * The entities that a subject sees: arguments are the id of the subject and how many candidates are
 * read at most (null: all), which an id may be several of. If there are more, one row has no id.
 */
export const visibleKind: FunctionKind = {
  name: "visible",
  arguments: ["text", "bigint"],
  returns: "table(id text, verdict integer)",
  estimate: "rows 100",
  query: ({ plan, candidatePlan, schema }) => {
    const candidatesMax = argument(2);
    const judged = judgedEntities({
      scope: functionScope,
      plan,
      candidatePlan,
      subjectId: sql`${argument(1)} collate "C"`,
      reading: whole,
      openRules: openRules(candidatePlan),
      limits: scopedTypes([]),
      innerMax: candidatesMax,
      relationsWith: relationsWith(schema),
      judgesTogether: false,
    });
    const read = sql`
      candidates as materialized (
        select c.* from (${allCandidates(judged.candidates, judged.inner !== undefined)}) c
        limit ${candidatesMax}
      )
    `;
    const found = sql`
      found as (
        select c.id, bool_or(${needsNoCheck(judged.inner)}) as sure
        from candidates c
        group by c.id
      )
    `;
    const inner = judged.inner?.tables ?? [];
    return sql`
      ${answers([...judged.tables, read, ...inner, found], judged.verdict)}
      union all
      select null::text, 0
      where ${candidatesMax} is not null
      and (select count(*) from candidates) = ${candidatesMax}
    `;
  },
};

/** The subjects that see an entity: the argument is its id. */
export const whoKind: FunctionKind = {
  name: "who",
  arguments: ["text"],
  returns: "table(id text, verdict integer)",
  estimate: "rows 100",
  query: ({ plan, candidatePlan }) => {
    const judged = judgedSubjects({
      scope: functionScope,
      plan,
      candidatePlan,
      entityId: sql`${argument(1)} collate "C"`,
      reading: whole,
      judgesTogether: false,
    });
    const found = sql`
      found as (
        select c.id, bool_or(c.sure) as sure
        from (${allSubjects(judged.candidates)}) c
        group by c.id
      )
    `;
    return answers([...judged.tables, found], judged.verdict);
  },
};

/** The rows of `found` that are not denied, with their verdicts, in no order. */
function answers(tables: readonly Fragment[], verdict: Fragment): Fragment {
  return sql`
    with recursive ${join(tables, ", ")}
    ${notDenied(verdict)}
  `;
}
