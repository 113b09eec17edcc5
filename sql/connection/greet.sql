-- Returns which server a connection leads to, as one row: `is_standby`, whether it follows another
-- one; `place`, the cluster and database; `timeline`, of what it writes, null for a standby. The path may
-- lead to what other roles have made, so each name has its schema.
select pg_catalog.pg_is_in_recovery() as is_standby,
  pg_catalog.format('%s/%s', control.system_identifier::text, here.oid::text) as place,
  case
    when pg_catalog.pg_is_in_recovery() then null
    else (
      'x' operator(pg_catalog.||)
        pg_catalog.substr(pg_catalog.pg_walfile_name(pg_catalog.pg_current_wal_lsn()), 1, 8)
    )::bit(32)::integer
  end as timeline
from pg_catalog.pg_control_system() as control
join pg_catalog.pg_database as here
  on here.datname operator(pg_catalog.=) pg_catalog.current_database()
