-- At most $3 placements on the cluster $1 that have been between two states for $2 milliseconds or longer,
-- the oldest first.
select tenant, cluster, state, version::text
from placements
where state in ('creating', 'deleting')
  and cluster = $1::text
  and changed_at < now() - $2::integer * interval '1 millisecond'
order by changed_at
limit $3::integer
