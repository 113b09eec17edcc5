import assert from "node:assert/strict";

import type postgres from "postgres";

import type { TenantId } from "../../src/base/tuple.ts";

/** One line of the log; the key names the tuple or attribute, the value is empty for a tuple. */
export interface Change {
  readonly xid: string;
  /** Its place among the changes of its transaction. */
  readonly ordinal: number;
  readonly operation: "create" | "delete";
  readonly key: string;
  readonly value: string;
  readonly createdXid: string | null;
}

/** The log of a tenant, or a copy of it in another table, in the order of transaction ids. */
export async function changesOf(
  sql: postgres.Sql,
  tenant: TenantId,
  table = "changes",
): Promise<readonly Change[]> {
  return await sql<Change[]>`
    select xid::text, ordinal, operation, created_xid::text as "createdXid",
      concat_ws(' ', entity_type, entity_id, relation, subject_type, subject_id, subject_relation,
        attribute) as key,
      coalesce(value_type || value::text, '') as value
    from ${sql(table)} logged
    where tenant = (select number from tenants where id = ${tenant})
    order by logged.xid, ordinal
  `;
}

/** Replays the log in the order of ids: each change must fit the state before it. */
export function replay(changes: readonly Change[]): ReadonlyMap<string, string> {
  const state = new Map<string, string>();
  for (const { xid, operation, key, value, createdXid } of changes) {
    if (operation === "create") {
      assert.equal(state.get(key), undefined, `${key} is created twice`);
      state.set(key, `${value} @${xid}`);
    } else {
      assert.equal(state.get(key), `${value} @${createdXid}`, `the delete of ${key} is not true`);
      state.delete(key);
    }
  }
  return state;
}

/** What is stored, as `replay` gives it. */
export async function storedState(
  sql: postgres.Sql,
  tenant: TenantId,
): Promise<ReadonlyMap<string, string>> {
  const rows = await sql<{ key: string; value: string }[]>`
    select concat_ws(' ', entity_type, entity_id, relation, subject_type, subject_id,
        subject_relation) as key, ' @' || created_xid::text as value
    from relationships where tenant = (select number from tenants where id = ${tenant})
    union all
    select concat_ws(' ', entity_type, entity_id, attribute),
      value_type || value::text || ' @' || created_xid::text
    from attributes where tenant = (select number from tenants where id = ${tenant})
  `;
  return new Map(rows.map(({ key, value }) => [key, value]));
}
