-- The source is about to refuse the tenant $1, which the process $2 moves. No row if the tenant is deleted, or
-- another process moves it.
with mine as materialized (
  select tenant, source from moves where tenant = $1::text and mover = $2::uuid for update
),
placed as (
  update placements
  set state = 'moving', version = default, changed_at = now()
  from mine
  where placements.tenant = mine.tenant
    and placements.cluster = mine.source
    and placements.state in ('placed', 'moving')
  returning placements.tenant
)
update moves
set step = 'stopping', seen_at = now()
from placed
where moves.tenant = placed.tenant
returning moves.tenant
