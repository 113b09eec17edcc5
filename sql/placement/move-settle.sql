-- The target serves the tenant $1, which the process $2 moves. No row if another process moves it.
with mine as materialized (
  select tenant, target from moves
  where tenant = $1::text and mover = $2::uuid and step = 'switched'
  for update
),
placed as (
  update placements
  set state = 'placed', version = default, changed_at = now()
  from mine
  where placements.tenant = mine.tenant
    and placements.cluster = mine.target
    and placements.state = 'moving'
  returning placements.tenant
)
update moves
set step = 'removing', seen_at = now()
from placed
where moves.tenant = placed.tenant
returning moves.tenant
