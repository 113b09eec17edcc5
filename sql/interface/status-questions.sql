-- Returns one row about what can be asked under the heads of tenants: `questions`, how many there are,
-- each once for all tenants, and `obstructed`, how many of them have an obstacle at some tenant.
select
  count(*)::integer as questions,
  (count(*) filter (where asked.is_obstructed))::integer as obstructed
from (
  select bool_or(q.obstacle is not null) as is_obstructed
  from :"plans".questions as q
  join :"tables".tenants as t on t.number = q.tenant and t.head_version = q.version
  group by q.entity_type, q.permission, q.subject_type, q.subject_relation
) as asked
