-- Notes that nothing of the tenants $1 is left. Returns nothing.
delete from removed_tenants where number = any($1::bigint[])
