-- Returns `id`, `name` and `created_at` of at most $2 tenants, those with an id above $1, ascending.
select id, name, created_at
from tenants
where id > $1::text
order by id
limit $2::integer
