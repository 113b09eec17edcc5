-- At most $3 bundles of tenant number $1, those above $2, ascending: `bundles` is a json text of arrays,
-- `last` the last name (null: none).
select coalesce(json_agg(json_build_array(name, payload, created_at)), '[]')::text as bundles,
  max(name) as last
from (
  select name, payload, created_at
  from bundles
  where tenant = $1::bigint and name > $2::text
  order by name
  limit $3::integer
) as found
