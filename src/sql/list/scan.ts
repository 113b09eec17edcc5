import { argument, type FunctionKind } from "../function/plan-function.ts";
import { whole } from "../lookup/candidate.ts";
import { judgedEntities } from "../lookup/judged.ts";
import { reachedFrom } from "../lookup/reached.ts";
import { join, sql } from "../text/fragment.ts";
import { candidatesFor, readBack, reachedTypes, testsOfUnknown } from "./reach.ts";

/**
 * The verdicts of entities for a subject, in their order: arguments are the id of the subject, all that
 * it reaches, and the ids. It goes from the entities: one of their tuples leads to what is reached.
 */
export const scanKind: FunctionKind = {
  name: "scan",
  arguments: ["text", ...reachedTypes, "text[]"],
  returns: "integer[]",
  estimate: "cost 1000",
  query: (plans) => {
    const { writer, ...input } = candidatesFor(plans, whole);
    const judged = judgedEntities({
      ...input,
      plan: plans.plan,
      back: readBack,
      judgesTogether: false,
    });
    const own = testsOfUnknown(plans.candidatePlan);
    const { sure, doubtful } = reachedFrom({ ...input, writer }, own, sql`k.id`);
    return sql`
      with recursive ${join(judged.tables, ", ")}
      select array_agg(v.v order by found.place)
      from (
        select k.id, k.place, m.sure, case when m.sure then true else ${doubtful} end as is_found
        from (
          select u.id collate "C" as id, u.place
          from unnest(${argument(6)}) with ordinality u(id, place)
          offset 0
        ) k
        cross join lateral (select ${sure} as sure offset 0) m
        offset 0
      ) found
      cross join lateral (
        select case when found.is_found then (${judged.verdict}) else 0 end as v offset 0
      ) v
    `;
  },
};
