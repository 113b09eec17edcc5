-- The process $2 goes on with the move of tenant $1, or takes it back, if no process was seen for $3
-- milliseconds. Returns the move.
update moves
set mover = $2::uuid, seen_at = now()
where tenant = $1::text
  and step <> 'ended'
  and seen_at < now() - $3::integer * interval '1 millisecond'
returning tenant, source, target, step
