import { must } from "../../base/assert.ts";
import { isClosed, isCutOff } from "../search/closure.ts";
import { behind, passage } from "../search/guard.ts";
import { firstClosedState } from "../search/hop.ts";
import { rowVerdict } from "../search/row.ts";
import { searchWriter, withClosure } from "../search/search-writer.ts";
import { openSearch, questionVerdict } from "../search/search.ts";
import { asksForUsersets, closedVerdict } from "../search/userset-guard.ts";
import { levelZero, type Writer } from "../search/writer.ts";
import { type Fragment, integer, sql } from "../text/fragment.ts";
import type { SharedAnswers, SharedItems } from "./shared-items.ts";

/**
 * The verdicts of many subjects at an entity: what the entity leads to is searched once, and for each
 * subject its tests and the usersets of the subject are asked of all rows.
 */
export function verdictsFromEntity({
  scope,
  plan,
  common: entityId,
  items,
  rowsMax,
}: SharedItems): SharedAnswers {
  const subject = sql`k.id`;
  const writer = searchWriter(scope, plan, subject);
  const { name, search, table } = openSearch(writer, entityId);
  const { row } = search;
  const first = integer(firstClosedState(writer));
  // The closure is hashed, so that a subject in many groups does not meet all of the entity's.
  const isOfSubject =
    plan.usersets.length === 0
      ? sql``
      : sql`
        where (
          ${row}.state < ${first} or ${isClosed(plan, sql`${row}.state - ${first}`, sql`${row}.id`)}
        ) is true
      `;
  const reached = sql`
    coalesce(
      (
        select max(${rowVerdict(writer, search)})
        from ahead ${row}
        ${isOfSubject}
      ),
      0
    )
  `;
  return {
    tables: sql`
      ahead as materialized (
        select b.*
        from (with recursive ${table} select ${name}.* from ${name} limit ${rowsMax} + 1) b
      )
    `,
    isWhole: sql`(select count(*) from ahead) <= ${rowsMax}`,
    answers: sql`
      select k.item, c.v, 1::bigint as n
      from (${items}) k
      cross join lateral (
        ${withClosure(scope, plan, subject)}
        select ${verdictOf(writer, entityId, reached)} as v offset 0
      ) c
    `,
  };
}

/** Without all usersets of the subject the rows do not decide, so the subject has a search of its own. */
function verdictOf(writer: Writer, entityId: Fragment, reached: Fragment): Fragment {
  const { plan } = writer;
  const at = { id: entityId, level: levelZero };
  const stateOf = (id: number) => must(plan.states[id], "a plan's states refer to each other");
  const closed: Writer = {
    ...writer,
    judge: (number, place) =>
      asksForUsersets(writer, stateOf(number))
        ? closedVerdict(writer, stateOf(number), entityId)
        : writer.judge(number, place),
  };
  const verdict = behind(passage(closed, stateOf(0).arrival, at), reached);
  if (plan.usersets.length === 0) return verdict;
  return sql`
    case
      when ${isCutOff} then (select x.v from (${questionVerdict(writer, entityId)}) x)
      else ${verdict}
    end
  `;
}
