-- The tuples of tenant number $1 that lie from tuple id $2 up to before $3: how many (`count`), and `tuples` as
-- a json text of arrays. No index leads by tenant, so a copy walks over the table.
select count(*)::integer as count,
  coalesce(json_agg(json_build_array(
    entity_type, entity_id, relation, subject_type, subject_id, subject_relation
  )), '[]')::text as tuples
from relationships
where ctid >= $2::tid and ctid < $3::tid and tenant = $1::bigint
