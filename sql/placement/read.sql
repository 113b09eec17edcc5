-- The placement of tenant $1, if there is one.
select tenant, cluster, state, version::text
from placements
where tenant = $1::text
