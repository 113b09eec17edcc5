-- Notes at the target that the process $2 moves the tenant $1 there. Returns its `number` there, and `progress`
-- (json text) if another process has begun.
select number::text, (select progress::text from arrivals where id = $1::text) as progress
from expect_tenant($1::text, $2::uuid) as number
