-- The target has all of the tenant $1, which the process $2 moves: from now on it is there. No row if another
-- process moves it.
with mine as materialized (
  select tenant, source, target from moves
  where tenant = $1::text and mover = $2::uuid and step = 'stopping'
  for update
),
placed as (
  update placements
  set cluster = mine.target, version = default, changed_at = now()
  from mine
  where placements.tenant = mine.tenant
    and placements.cluster = mine.source
    and placements.state = 'moving'
  returning placements.tenant
)
update moves
set step = 'switched', seen_at = now()
from placed
where moves.tenant = placed.tenant
returning moves.tenant
