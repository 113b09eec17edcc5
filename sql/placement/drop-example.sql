-- Removes the tenant that the first migration makes, while nothing was done with it, from a database that
-- belongs to no directory and has no other tenant.
select delete_tenant(id)
from tenants
where id = 't1'
  and created_xid = '1'
  and head_version is null
  and not exists (select from bundles where tenant = number)
  and not exists (select from directory)
  and not exists (select from tenants as other where other.id <> 't1')
