import type postgres from "postgres";

import type { TenantId } from "../../src/base/tuple.ts";

/** The log, or a copy of it in another table. */
export interface Log {
  readonly sql: postgres.Sql;
  readonly table: string;
}

/** The tuple or attribute of a row, as `textOf` has it. */
function itemText(sql: postgres.Sql): postgres.PendingQuery<postgres.Row[]> {
  return sql`
    entity_type || ':' || entity_id || coalesce(
      '#' || relation || '@' || subject_type || ':' || subject_id
        || case when subject_relation = '' then '' else '#' || subject_relation end,
      '$' || attribute || '=' || value::text
    )
  `;
}

/** The state that the log has at a snapshot, as `stateAt` gives it. */
export async function loggedState(
  { sql, table }: Log,
  tenant: TenantId,
  snapshot: string,
): Promise<readonly string[]> {
  const rows = await sql<{ text: string; operation: string }[]>`
    select operation, ${itemText(sql)} as text
    from ${sql(table)} as logged
    where tenant = (select number from tenants where id = ${tenant})
      and pg_visible_in_snapshot(logged.xid, ${snapshot}::text::pg_snapshot)
    order by logged.xid, ordinal
  `;
  const state = new Set<string>();
  for (const { operation, text } of rows) {
    if (operation === "create") state.add(text);
    else state.delete(text);
  }
  return [...state].toSorted();
}

/** The changes of each transaction, in no order that means anything. */
export async function loggedTransactions(
  { sql, table }: Log,
  tenant: TenantId,
): Promise<readonly string[]> {
  const rows = await sql<{ texts: string[] }[]>`
    select array_agg(
      case operation when 'create' then '+' else '-' end || ${itemText(sql)} order by ordinal
    ) as texts
    from ${sql(table)} where tenant = (select number from tenants where id = ${tenant})
    group by xid
  `;
  return rows.map(({ texts }) => JSON.stringify(texts)).toSorted();
}
