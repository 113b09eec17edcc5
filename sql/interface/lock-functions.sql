-- Until the end of the transaction no other session makes or removes plan functions. Returns one row.
select
  pg_advisory_xact_lock_shared(:"tables".lock_key(0::bigint, 2)),
  pg_advisory_xact_lock(:"tables".lock_key(0::bigint, 3))
