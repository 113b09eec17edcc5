import { searchWriter, withClosure } from "../search/search-writer.ts";
import { questionVerdict } from "../search/search.ts";
import { sql } from "../text/fragment.ts";
import { argument, type FunctionKind, functionScope } from "./plan-function.ts";

/** The verdict of one check: arguments are the ids of the entity and the subject. */
export const mayKind: FunctionKind = {
  name: "may",
  arguments: ["text", "text"],
  returns: "integer",
  estimate: "cost 1000",
  query: ({ plan }) => {
    const entity = sql`${argument(1)} collate "C"`;
    const subject = sql`${argument(2)} collate "C"`;
    const verdict = questionVerdict(searchWriter(functionScope, plan, subject), entity);
    return sql`
      ${withClosure(functionScope, plan, subject)}
      select x.v from (${verdict}) x
    `;
  },
};

/**
 * The verdicts of checks of many entities for one subject: arguments are the ids of the entities and
 * the id of the subject. Rows have a different id each; those that are denied are left out.
 */
export const mayOfKind: FunctionKind = {
  name: "may_of",
  arguments: ["text[]", "text"],
  returns: "table(id text, verdict integer)",
  estimate: "rows 100",
  query: ({ plan }) => {
    const subject = sql`${argument(2)} collate "C"`;
    const verdict = questionVerdict(searchWriter(functionScope, plan, subject), sql`q.id`);
    return sql`
      ${withClosure(functionScope, plan, subject)}
      select q.id, c.v
      from (
        select distinct u.id collate "C" as id
        from unnest(${argument(1)}) as u(id)
        where u.id is not null
      ) q
      cross join lateral (select x.v from (${verdict}) x offset 0) c
      where c.v > 0
    `;
  },
};
