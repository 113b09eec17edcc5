-- Removes what can be asked of the tenants $1. Returns nothing.
with versions as (
  delete from :"plans".versions where tenant = any($1::bigint[])
)
delete from :"plans".questions where tenant = any($1::bigint[])
