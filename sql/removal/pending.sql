-- Returns the `number` of every tenant whose rows are still to be removed, and `is_quiet`: every
-- transaction that may have written into it has ended.
select number, coalesce(writers_below < pg_snapshot_xmin(pg_current_snapshot()), false) as is_quiet
from removed_tenants
order by number
