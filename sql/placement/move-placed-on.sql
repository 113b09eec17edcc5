-- At most $3 tenants (`tenant`) that are placed on the cluster $1, those with an id above $2, ascending.
select tenant
from placements
where cluster = $1::text
  and state = 'placed'
  and tenant > $2::text
order by tenant
limit $3::integer
