-- As list.sql, of the tenants with the ids $3 alone.
select id, name, created_at
from tenants
where id > $1::text
  and id = any ($3::text[])
order by id
limit $2::integer
