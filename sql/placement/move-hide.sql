-- Has the source refuse the tenant number $1, which the process $2 moves. Returns `outcome`, as the function
-- says. $3 is how long a lock is waited for at most, such as `1s` (it is set before the function begins).
select hide_tenant(
  case when set_config('lock_timeout', $3::text, true) is not null then $1::bigint end, $2::uuid
) as outcome
