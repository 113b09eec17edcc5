-- Returns the `name` of at most $3 bundles of tenant $1, those above $2, ascending. When there is none, but
-- the tenant exists, one row with a null `name`.
select page.name
from tenants
left join lateral (
  select bundles.name
  from bundles
  where bundles.tenant = tenants.number and bundles.name > $2::text
  order by bundles.name
  limit $3::integer
) as page on true
where tenants.id = $1::text
order by page.name
