import type postgres from "postgres";

/** Gives the tenant of that number more tuples than are removed at once, with their rows of the log. */
export async function insertManyRows(sql: postgres.Sql, number: string): Promise<void> {
  await sql`
    with created as (
      insert into relationships
      select ${number}::bigint, 'doc', id::text, 'owner', 'user', 'a', '', pg_current_xact_id()
      from generate_series(1, 30000) as id
      returning *
    )
    insert into changes (tenant, xid, ordinal, operation, entity_type, entity_id, relation,
      subject_type, subject_id, subject_relation)
    select tenant, created_xid, row_number() over (), 'create', entity_type, entity_id, relation,
      subject_type, subject_id, subject_relation
    from created
  `;
}
