-- Whether a question can be asked in SQL under the head of some tenant: entity type $1, permission $2, subject
-- type $3. Returns one row: `is_known`, and `obstacle`, why it has no SQL under any of them.
select
  count(*) > 0 as is_known,
  case when bool_and(q.obstacle is not null) then min(q.obstacle) end as obstacle
from :"plans".questions as q
join :"tables".tenants as t on t.number = q.tenant and t.head_version = q.version
where q.entity_type = $1::text
  and q.permission = $2::text
  and q.subject_type = $3::text
  and q.subject_relation = ''
