-- Returns at most $1 questions that have an obstacle under the heads of tenants, with their names,
-- `obstacle`, and `tenants`, how many tenants have it.
select q.entity_type, q.permission, q.subject_type, q.subject_relation, q.obstacle,
  count(*)::integer as tenants
from :"plans".questions as q
join :"tables".tenants as t on t.number = q.tenant and t.head_version = q.version
where q.obstacle is not null
group by q.entity_type, q.permission, q.subject_type, q.subject_relation, q.obstacle
order by q.entity_type, q.permission, q.subject_type, q.subject_relation, q.obstacle
limit $1::integer
