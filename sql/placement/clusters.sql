-- The clusters on which tenants are placed, each with how many.
select cluster, count(*)::integer as tenants
from placements
group by cluster
order by cluster
