-- Waits until no other session installs or drops the objects of the interface. Returns one row.
select pg_advisory_xact_lock(:"tables".lock_key(0::bigint, 4))
