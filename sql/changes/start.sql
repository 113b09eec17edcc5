-- Returns where a stream of the tenant with id $1 begins: its `number` and the state of the database
-- (`snapshot`, `durable`: the last durable id, `timeline`, `place`: the cluster and database). When the
-- stream begins at an earlier state, the one of snapshot $2 (null for none) with timeline $3, change $4
-- and $5 as `is_lost` takes them, also whether that is known: `is_future`, `is_lost`, `is_expired`,
-- `is_before_tenant`, and `is_partial`, as `is_logged_otherwise` says with $6. No row: no such tenant.
select tenants.number::text, pg_current_snapshot()::text as snapshot,
  greatest(tenants.created_xid, (select durable_xid.xid from durable_xid))::text as durable,
  current_timeline() as timeline, control.system_identifier::text || '/' || here.oid as place,
  coalesce(
    pg_snapshot_xmax($2::pg_snapshot) > pg_snapshot_xmax(pg_current_snapshot())
    or not pg_visible_in_snapshot($4::xid8, pg_current_snapshot()),
    false
  ) as is_future,
  $2::pg_snapshot is not null and $3::integer <> current_timeline()
    and is_lost(tenants.number, $3::integer, $4::xid8, $5::xid8) as is_lost,
  coalesce(pg_snapshot_xmin($2::pg_snapshot) < installation.horizon, false) as is_expired,
  not coalesce(pg_visible_in_snapshot(tenants.created_xid, $2::pg_snapshot), true)
    as is_before_tenant,
  is_logged_otherwise(tenants.number, $4::xid8, $6::text) as is_partial
from tenants
cross join installation
cross join pg_control_system() as control
join pg_database as here on here.datname = current_database()
where tenants.id = $1::text
