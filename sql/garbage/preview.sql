-- Returns one row: `horizon`, to which a pass with a window of $1 milliseconds would come if the times
-- in the log count as well; and how many of the logged changes (`logged`) it would remove (`expired`).
-- A database that no server has opened has no horizon yet.
with reached as materialized (
  select coalesce(
    horizon_before(clock_timestamp() - make_interval(secs => $1::double precision / 1000), true),
    '0'
  ) as horizon
)
select reached.horizon::text, counts.logged::integer, counts.expired::integer
from reached cross join lateral (
  select count(*) as logged, count(*) filter (where changes.xid < reached.horizon) as expired
  from changes
) as counts
