-- Removes at most $2 logged changes of the tenants $1 and returns how many: `removed`.
with removed as (
  delete from changes
  where (tenant, xid, ordinal) in (
    select tenant, xid, ordinal from changes where tenant = any($1::bigint[]) limit $2::integer
  )
  returning 1
)
select count(*)::integer as removed from removed
