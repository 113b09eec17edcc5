-- Notes at the target that the process $2 moves the tenant $1 there. Returns its `number` there, `progress`
-- (json text) if another process has begun, and `is_taken`: does the target serve a tenant with this id?
select number::text, (select progress::text from arrivals where id = $1::text) as progress,
  exists (select from tenants where id = $1::text) as is_taken
from expect_tenant($1::text, $2::uuid) as number
