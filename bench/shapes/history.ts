import { onServer } from "../server.ts";

/** Deleted versions behind each live tuple. */
const VERSIONS = 10;

/**
 * Deletes and creates every tuple again, ten times, with the rows of the log that the store would
 * write. Vacuumed in the end, as the server does by itself where this takes days.
 */
export async function makeHistory(url: string): Promise<void> {
  await onServer(url, async (sql) => {
    for (let version = 0; version < VERSIONS; version++) {
      await sql.begin(async (transaction) => {
        await transaction`
          create temporary table living on commit drop as
            select *, row_number() over () as place from relationships`;
        await transaction`delete from relationships`;
        await transaction`
          insert into relationships
            select tenant, entity_type, entity_id, relation, subject_type, subject_id,
              subject_relation, pg_current_xact_id()
            from living`;
        await transaction`
          insert into changes (tenant, xid, ordinal, operation, entity_type, entity_id, relation,
              subject_type, subject_id, subject_relation, created_xid, at)
            select tenant, pg_current_xact_id(), 2 * place + step.ordinal, step.operation,
              entity_type, entity_id, relation, subject_type, subject_id, subject_relation,
              case step.operation when 'delete' then created_xid end, now()
            from living, (values (0, 'delete'), (1, 'create')) as step (ordinal, operation)`;
      });
    }
    await sql`vacuum (analyze) relationships, changes`;
  });
}
