-- As adopt.sql, of all tenants.
insert into placements (tenant, cluster, state, name, created_at)
select found.id, $1::text, 'placed', found.name, found.created_at
-- Not an anti-join, which would ask an index for each of a million tenants.
from (select id from tenants except select tenant from placements) as missing
cross join lateral (
  select tenants.id, tenants.name, tenants.created_at
  from tenants
  where tenants.id = missing.id
  offset 0
) as found
on conflict (tenant) do nothing
