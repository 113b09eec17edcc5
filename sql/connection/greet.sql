-- Returns which server a connection leads to, as one row: `is_standby`, whether it follows another
-- one; `place`, the cluster and database; `timeline`, of what it writes, null for a standby.
select pg_is_in_recovery() as is_standby,
  control.system_identifier::text || '/' || here.oid as place,
  case
    when pg_is_in_recovery() then null
    else ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::integer
  end as timeline
from pg_control_system() as control
join pg_database as here on here.datname = current_database()
