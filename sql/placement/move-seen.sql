-- The process $2 goes on with the move of tenant $1. No row if another one does, or if it has ended.
update moves
set seen_at = now()
where tenant = $1::text and mover = $2::uuid and step <> 'ended'
returning tenant
