-- Places the tenant $2 of this database, which is that of the directory, on its cluster $1. So is a
-- tenant that was made while there was one cluster.
insert into placements (tenant, cluster, state, name, created_at)
select id, $1::text, 'placed', name, created_at
from tenants
where id = $2::text
on conflict (tenant) do nothing
