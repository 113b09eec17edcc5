-- At most $2 moves whose process was not seen for $1 milliseconds, and which leave their tenant refused, rows at
-- the source, or rows of a tenant that was deleted.
select tenant, source, target, step
from moves
where step <> 'ended'
  and (step <> 'copying' or not exists (select from placements where placements.tenant = moves.tenant))
  and seen_at < now() - $1::integer * interval '1 millisecond'
order by tenant
limit $2::integer
