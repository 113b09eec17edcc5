-- Removes what can be asked and written of the tenants $1. Returns nothing.
with names as (
  delete from :"plans".names where tenant = any($1::bigint[])
),
versions as (
  delete from :"plans".versions where tenant = any($1::bigint[])
)
delete from :"plans".questions where tenant = any($1::bigint[])
