-- The id of this transaction, as `xid`: applications that found the tenant before have lower ones.
select pg_current_xact_id()::text as xid
