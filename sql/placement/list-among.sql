-- As list.sql, of the tenants with the ids $3 alone.
select tenant as id, name, cluster, created_at
from placements
where tenant > $1::text
  and tenant = any ($3::text[])
  and state <> 'creating'
order by tenant
limit $2::integer
