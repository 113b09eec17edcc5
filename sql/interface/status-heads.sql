-- Returns one row about the heads of tenants: `heads`, how many there are; `unsynced`, how many of them
-- were not synced with the fingerprint $1 (null: with any); `examples`, the ids of the first $2 of these.
with heads as materialized (
  select t.id, t.number,
    exists (
      select
      from :"plans".versions as v
      where v.tenant = t.number
        and v.version = t.head_version
        and ($1::text is null or v.fingerprint = $1::text)
    ) as is_synced
  from :"tables".tenants as t
  where t.head_version is not null
)
select
  count(*)::integer as heads,
  (count(*) filter (where not h.is_synced))::integer as unsynced,
  array_to_json(array(
    select u.id from heads as u where not u.is_synced order by u.number limit $2::integer
  )) as examples
from heads as h
