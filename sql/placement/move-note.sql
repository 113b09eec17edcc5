-- Notes what the process $2 has copied to the tenant number $1 ($3, json). No row if another process does that.
update arrivals
set progress = $3::text::jsonb
where number = $1::bigint and mover = $2::uuid
returning number
