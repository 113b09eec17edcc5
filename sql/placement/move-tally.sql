-- The rows of tenant number $1 by label: `tally` is a json text of arrays (label, number of rows, sum of their
-- digests), as of `snapshot`. `durable` is the last durable id. It takes one processor: a statement that changes a
-- setting has no parallel workers, which tenants beside this one would have to wait for.
with alone as materialized (
  select set_config('max_parallel_workers_per_gather', '0', true)
)
select pg_current_snapshot()::text as snapshot,
  (select durable_xid.xid from durable_xid)::text as durable,
  coalesce(json_agg(json_build_array(label, count, sum::text)), '[]')::text as tally
from (
  select entity_type || '#' || relation as label, count(*),
    sum(tuple_digest(
      entity_type, entity_id, relation, subject_type, subject_id, subject_relation
    )) as sum
  from relationships
  where tenant = $1::bigint
  group by entity_type, relation
  union all
  select entity_type || '$' || attribute, count(*),
    sum(attribute_digest(entity_type, entity_id, attribute, value_type, value))
  from attributes
  where tenant = $1::bigint
  group by entity_type, attribute
) as labels
cross join alone
