-- Returns `id`, `name`, `cluster` and `created_at` of at most $2 tenants on all clusters, those with an id above $1,
-- ascending.
select tenant as id, name, cluster, created_at
from placements
where tenant > $1::text
  and state <> 'creating'
order by tenant
limit $2::integer
