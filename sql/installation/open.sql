-- Returns one row for each timeline on which there have been writes, oldest first: `identity` of
-- the cluster and database (the same in each), `timeline`, `first_xid`. Records what is new.
select identity, timeline, first_xid from open_installation()
