-- Waits while another process migrates, and keeps other processes from it until the transaction ends.
-- $1 is the lock that the library of migrations takes for this. Returns nothing of use.
select pg_advisory_xact_lock($1::bigint)
