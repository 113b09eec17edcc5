-- Gives tenant $1 the bundles with the names $2 and the json payloads $3, each in place of what had
-- its name. Returns one row when the tenant exists.
with here as (
  select number from tenants where id = $1::text for key share
),
written as (
  insert into bundles (tenant, name, payload)
  select here.number, wanted.name, wanted.payload::jsonb
  from here, unnest($2::text[], $3::text[]) as wanted (name, payload)
  order by wanted.name collate "C"
  on conflict (tenant, name) do update set payload = excluded.payload
)
select number from here
