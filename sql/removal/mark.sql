-- Gives each deleted tenant the id of this transaction. Every application that found the tenant before it
-- was deleted writes in a transaction with a lower id. An id of another cluster, of which this one is a
-- copy, is replaced. Returns nothing.
update removed_tenants
set writers_below = pg_current_xact_id()
where writers_below is null or writers_below >= pg_snapshot_xmax(pg_current_snapshot())
