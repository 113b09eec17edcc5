-- The directory that this database belongs to, if any: its `cluster`, is the directory here (`is_here`), and are
-- tenants on other clusters than this one (`is_spread`)?
select cluster, is_here,
  exists (select from placements where placements.cluster <> directory.cluster) as is_spread
from directory
