-- Notes what the tenant number $1, which the process $2 has moved here, is to be (`made`: $3, json). Then it can be
-- served without the source. No row if another process moves it.
update arrivals
set progress = progress || jsonb_build_object('made', $3::text::jsonb)
where number = $1::bigint and mover = $2::uuid
returning number
