-- Returns for each tenant number of $1: `number`, whether the tenant `lives`, whether something of it
-- `changed` in a transaction that snapshot $2 does not show; and beside that the state of the database
-- in which this is so (`snapshot`, `timeline`, `place`: the cluster and database), and the id below
-- which history is gone (`horizon`).
select watched.number::text, tenants.number is not null as lives,
  exists (
    select from changes
    where changes.tenant = watched.number and changes.xid >= pg_snapshot_xmax($2::pg_snapshot)
  ) or exists (
    select from pg_snapshot_xip($2::pg_snapshot) as running (xid)
    join changes on changes.tenant = watched.number and changes.xid = running.xid
  ) as changed,
  state.snapshot, state.timeline, state.place, installation.horizon::text
from installation
cross join (
  select pg_current_snapshot()::text as snapshot, current_timeline() as timeline,
    control.system_identifier::text || '/' || here.oid as place
  from pg_control_system() as control
  join pg_database as here on here.datname = current_database()
  offset 0
) as state
cross join unnest($1::bigint[]) as watched (number)
left join tenants on tenants.number = watched.number
