-- Makes the bundles of the tenant number $1, which the process $2 moves here, those of $3 (json arrays) among the names
-- above $4 up to $5 (null: all above). Returns `is_mine`.
with mine as materialized (
  select number from arrivals where number = $1::bigint and mover = $2::uuid for share
),
given as materialized (
  select item ->> 0 as name, (item -> 1)::text::jsonb as payload, (item ->> 2)::timestamptz as created_at
  from json_array_elements($3::text::json) as given (item)
),
removed as (
  delete from bundles
  using mine
  where bundles.tenant = mine.number
    and bundles.name > $4::text
    and ($5::text is null or bundles.name <= $5::text)
    and not exists (select from given where given.name = bundles.name)
),
put as (
  insert into bundles (tenant, name, payload, created_at)
  select mine.number, given.name, given.payload, given.created_at
  from mine, given
  on conflict (tenant, name) do update
  set payload = excluded.payload, created_at = excluded.created_at
)
select exists (select from mine) as is_mine
