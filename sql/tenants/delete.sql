-- Frees the tenant id $1 and leaves its rows to be removed. Returns `deleted`: was there a tenant?
select delete_tenant($1::text) as deleted
