-- Puts the schema versions $3 (json arrays) into the tenant number $1, which the process $2 moves here. Returns
-- `is_mine`.
with mine as materialized (
  select number from arrivals where number = $1::bigint and mover = $2::uuid for share
),
put as (
  insert into schemas (tenant, version, text, created_at)
  select mine.number, item ->> 0, item ->> 1, (item ->> 2)::timestamptz
  from mine, json_array_elements($3::text::json) as given (item)
  on conflict do nothing
)
select exists (select from mine) as is_mine
