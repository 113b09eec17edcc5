-- Has the source serve the tenant number $1 again, which the process $2 moves. Returns `is_shown`.
select show_tenant($1::bigint, $2::uuid) as is_shown
