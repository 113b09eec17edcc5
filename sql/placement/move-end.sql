-- The move of tenant $1 by the process $2 has ended. The row stays, so that a token of an earlier stay on a
-- cluster is known for what it is; without a tenant it is removed.
with gone as (
  delete from moves
  where tenant = $1::text
    and mover = $2::uuid
    and not exists (select from placements where tenant = $1::text)
)
update moves
set step = 'ended'
where tenant = $1::text
  and mover = $2::uuid
  and exists (select from placements where tenant = $1::text)
