-- Returns what has happened since snapshot $1, as one row: `changed`, the numbers of all tenants of
-- which something changed in a transaction that it does not show; `gone`, those of the tenant numbers
-- $2 that are no more; and beside that the state of the database in which this is so (`snapshot`,
-- `durable`: the last durable id, `timeline`, `place`: the cluster and database), and the id below which
-- history is gone (`horizon`).
select (
    select coalesce(json_agg(found.number::text), '[]')
    from (
      select changes.tenant
      from changes
      where changes.ordinal = 0 and changes.xid >= pg_snapshot_xmax($1::pg_snapshot)
      union
      select ended.tenant
      from pg_snapshot_xip($1::pg_snapshot) as running (xid)
      -- Not a join, which could begin with all of the log.
      cross join lateral (
        select changes.tenant from changes
        where changes.ordinal = 0 and changes.xid = running.xid
        offset 0
      ) as ended
    ) as found (number)
  ) as changed,
  (
    select coalesce(json_agg(watched.number::text), '[]')
    from unnest($2::bigint[]) as watched (number)
    where not exists (select from tenants where tenants.number = watched.number)
  ) as gone,
  state.snapshot, (select durable_xid.xid from durable_xid)::text as durable, state.timeline,
  state.place, installation.horizon::text
from installation
cross join (
  select pg_current_snapshot()::text as snapshot, current_timeline() as timeline,
    control.system_identifier::text || '/' || here.oid as place
  from pg_control_system() as control
  join pg_database as here on here.datname = current_database()
  offset 0
) as state
