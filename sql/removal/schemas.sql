-- Removes all schema versions of the tenants $1. Returns nothing.
delete from schemas where tenant = any($1::bigint[])
