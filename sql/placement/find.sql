-- Where tenant $1 is. Returns `is_here`: does this database, which is that of the directory, have the tenant? Also
-- `tenant`, `cluster`, `state` and `version` of its placement, null without one.
select exists (select from tenants where id = $1::text) as is_here,
  placements.tenant, placements.cluster, placements.state, placements.version::text
from (select) as always
left join placements on placements.tenant = $1::text
