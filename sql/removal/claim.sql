-- The process $1 removes the rows of all deleted tenants, unless another one was seen at that in the last $2
-- milliseconds. Returns a row for each such tenant; none if it may not. If two claim at the same moment, each finds
-- the other one the next time, or takes its place.
update removed_tenants
set remover = $1::uuid, seen_at = now()
where not exists (
  select from removed_tenants as other
  where other.remover <> $1::uuid and other.seen_at > now() - $2::integer * interval '1 millisecond'
)
returning number
