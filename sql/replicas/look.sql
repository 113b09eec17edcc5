-- Returns who the server is and how far it has come, as one row: `is_standby`; `place`, the cluster
-- and database; `timeline`; `started_at`, which no two servers have in common; `position`, what it
-- has written or replayed of the write-ahead log, in bytes; `reached`, the id of the transaction
-- below which everything has ended there.
select pg_is_in_recovery() as is_standby,
  control.system_identifier::text || '/' || here.oid as place,
  current_timeline() as timeline,
  pg_postmaster_start_time()::text as started_at,
  (
    case
      when pg_is_in_recovery() then pg_last_wal_replay_lsn()
      else pg_current_wal_lsn()
    end - '0/0'::pg_lsn
  )::text as position,
  pg_snapshot_xmin(pg_current_snapshot())::text as reached
from pg_control_system() as control
join pg_database as here on here.datname = current_database()
