-- Up Migration

-- What statements say of the server that they run on, so that the same texts can run on a standby.

-- A standby cannot tell which timeline it follows, but which is the last that its data know of.
create function standby_timeline() returns integer
language sql stable parallel safe
as $$
  select max(timelines.timeline)
  from timelines
  join installation on installation.system_identifier = timelines.system_identifier
$$;

-- The timeline that the server writes now, or that a standby knows of. The control file lags behind
-- after a promotion.
create or replace function current_timeline() returns integer
language sql volatile parallel safe
as $$
  select case
    when pg_is_in_recovery() then standby_timeline()
    else ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::integer
  end
$$;

-- The state of a tenant that the statement sees on a standby, as the text of a snapshot, or null when
-- no text names it: the snapshots of a standby do not tell which transactions are running. Below the
-- lower end none is, and while nothing of the tenant comes from there on, that is the whole state.
-- Every transaction from there on whose change the standby lacks comes later in the write-ahead log
-- than all that it shows, so the end is also the id from which on transactions began later.
create function settled_state(tenant_number bigint, tenant_created_xid xid8) returns text
language sql stable parallel safe
as $$
  select settled.xid || ':' || settled.xid || ':'
  from (select pg_snapshot_xmin(pg_current_snapshot()) as xid offset 0) as settled
  where tenant_created_xid < settled.xid
    and not exists (
      select from changes where changes.tenant = tenant_number and changes.xid >= settled.xid
    )
$$;

-- Down Migration

drop function settled_state(bigint, xid8);
create or replace function current_timeline() returns integer
language sql volatile parallel safe
as $$
  select ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::integer
$$;
drop function standby_timeline();
