-- Returns one row when tenant $1 exists: its `number`, and the `payload` of the bundle $2, which is
-- null when there is none.
select tenants.number, bundles.payload
from tenants
left join bundles on bundles.tenant = tenants.number and bundles.name = $2::text
where tenants.id = $1::text
