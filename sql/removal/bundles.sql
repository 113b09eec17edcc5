-- Removes all bundles of the tenants $1. Returns nothing.
delete from bundles where tenant = any($1::bigint[])
