-- Deletes the bundle $2 of tenant $1. Returns one row when the tenant exists: `deleted`, was there
-- such a bundle?
with here as (
  select number from tenants where id = $1::text for key share
),
gone as (
  delete from bundles using here
  where bundles.tenant = here.number and bundles.name = $2::text
  returning bundles.name
)
select exists (select from gone) as deleted from here
