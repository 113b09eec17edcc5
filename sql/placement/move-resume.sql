-- The source serves the tenant $1 again, which the process $2 moves. No row if another process moves it.
with mine as materialized (
  select tenant, source from moves
  where tenant = $1::text and mover = $2::uuid and step in ('copying', 'stopping')
  for update
),
placed as (
  update placements
  set state = 'placed', version = default, changed_at = now()
  from mine
  where placements.tenant = mine.tenant
    and placements.cluster = mine.source
    and placements.state = 'moving'
)
update moves
set step = 'copying', seen_at = now()
from mine
where moves.tenant = mine.tenant
returning moves.tenant
