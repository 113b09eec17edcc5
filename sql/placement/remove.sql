-- Removes the placement of tenant $1, if it still has the version $2, and what is noted of its moves. That of a
-- tenant that moves stays: the cluster that it names does not have the tenant for a moment.
with gone as (
  delete from placements
  where tenant = $1::text
    and version = $2::uuid
    and state <> 'moving'
  returning tenant
),
forgotten as (
  delete from moves
  where tenant = $1::text
    and step = 'ended'
    and exists (select from gone)
)
select tenant from gone
