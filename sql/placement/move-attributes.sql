-- The first attributes of tenant number $1 that lie after tuple id $2 and before $3: at most $4, and at most $5
-- bytes of values unless one alone is larger. How many (`count`), `attributes` as a json text of arrays, and
-- the place of the last one (`last`).
select count(*)::integer as count,
  coalesce(json_agg(json_build_array(entity_type, entity_id, attribute, value_type, value)), '[]')::text
    as attributes,
  max(place)::text as last
from (
  select attributes.*, attributes.ctid as place,
    row_number() over by_place as position,
    sum(octet_length(value::text)) over by_place as bytes
  from attributes
  where ctid > $2::tid and ctid < $3::tid and tenant = $1::bigint
  window by_place as (order by ctid)
  order by ctid
  limit $4::integer
) as found
where position = 1 or bytes <= $5::integer
