-- Notes at the source that the process $2 moves the tenant $1. Returns its `number`, is it refused
-- (`is_hidden`), and is it gone (`is_gone`)? No row: there is no such tenant, and none was moved.
with noted as (
  insert into departures (number, id, mover)
  select number, id, $2::uuid from tenants where id = $1::text
  on conflict (id) do update set mover = excluded.mover
  returning number, hidden
),
left_over as (
  update departures set mover = $2::uuid
  where id = $1::text and not exists (select from tenants where id = $1::text)
  returning number, hidden
)
select found.number::text, found.hidden is not null as is_hidden,
  found.hidden is null and not exists (select from tenants where tenants.number = found.number)
    as is_gone
from (
  select * from noted
  union all
  select * from left_over
) as found
