-- Notes that the process $3 moves the tenant $1 to the cluster $2, or goes on with its move there if no
-- process was seen for $4 milliseconds. Returns the move; no row if it may not, or if there is nothing to move.
insert into moves (tenant, source, target, mover)
select tenant, cluster, $2::text, $3::uuid
from placements
where tenant = $1::text
  and (
    (state = 'placed' and cluster <> $2::text)
    or exists (
      select from moves as begun where begun.tenant = placements.tenant and begun.step <> 'ended'
    )
  )
on conflict (tenant) do update
set
  mover = excluded.mover,
  seen_at = now(),
  source = case moves.step when 'ended' then excluded.source else moves.source end,
  target = excluded.target,
  step = case moves.step when 'ended' then excluded.step else moves.step end
where moves.step = 'ended'
  or (
    moves.target = excluded.target
    and moves.seen_at < now() - $4::integer * interval '1 millisecond'
  )
returning tenant, source, target, step
