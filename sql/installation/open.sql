-- Returns the `identity` of the cluster and database, which makes tokens good here. Records what a
-- start finds new: the cluster, a timeline.
-- Locks, until the transaction ends: the advisory lock of the installation, before anything is read.
-- `open_installation` looks at `timelines` before it takes that lock itself, and empties the table
-- in a copy of a database, so two starts would wait for each other.
select case
  when pg_advisory_xact_lock(lock_key(0, 0)) is not null
  then (select identity from open_installation() limit 1)
end as identity
