-- The process $1 removes no more rows: another one may go on at once. Returns nothing.
update removed_tenants set seen_at = null where remover = $1::uuid
