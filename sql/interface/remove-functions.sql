-- Removes at most $2 plan functions that no question leads to and that were not made in the last $1
-- milliseconds. Returns one row: `removed`, how many were looked at.
select remove_functions as removed
from :"plans".remove_functions(
  clock_timestamp() - make_interval(secs => $1::double precision / 1000), $2::integer
)
