-- At most $3 schema versions of tenant number $1, those above $2, ascending: `schemas` is a json text of
-- arrays, `last` the last version (null: none).
select coalesce(json_agg(json_build_array(version, text, created_at)), '[]')::text as schemas,
  max(version) as last
from (
  select version, text, created_at
  from schemas
  where tenant = $1::bigint and version > $2::text
  order by version
  limit $3::integer
) as found
