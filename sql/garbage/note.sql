-- Notes the oldest running transaction, unless that was done in the last $1 milliseconds. Returns
-- one row: `is_due`, whether the last pass ended at least $2 milliseconds ago.
with noted as (
  insert into horizons (system_identifier, database_oid, at, oldest_xid)
  select system_identifier, database_oid, clock_timestamp(),
    pg_snapshot_xmin(pg_current_snapshot())
  from installation
  where not exists (
    select from horizons
    where horizons.system_identifier = installation.system_identifier
      and horizons.database_oid = installation.database_oid
      and horizons.at > clock_timestamp() - make_interval(secs => $1::double precision / 1000)
  )
  on conflict do nothing
)
select collected_at is null
    or collected_at <= clock_timestamp() - make_interval(secs => $2::double precision / 1000)
    as is_due
from installation
