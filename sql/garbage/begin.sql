-- Refuses from now on the tokens that are older than $1 milliseconds, and forgets the readings of the
-- horizon that no later pass needs. With $2 the times in the log count as well. Returns nothing.
with cutoff as materialized (
  select clock_timestamp() - make_interval(secs => $1::double precision / 1000) as at
),
forgotten as (
  delete from horizons
  where at < (
    select horizons.at from horizons, cutoff
    where horizons.at <= cutoff.at
    order by horizons.at desc
    limit 1
  )
)
update installation
set horizon = greatest(horizon, horizon_before(cutoff.at, $2::boolean))
from cutoff
