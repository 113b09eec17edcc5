-- Whether a question can be asked in SQL under the head of the tenant $1: entity type $2, permission $3,
-- subject type $4. Returns one row: `has_tenant`, `is_known`, and `obstacle`, why it has no SQL.
select
  t.number is not null as has_tenant,
  q.tenant is not null as is_known,
  q.obstacle
from (select $1::text as tenant) as asked
left join :"tables".tenants as t on t.id = asked.tenant
left join :"plans".questions as q
  on q.tenant = t.number
  and q.version = t.head_version
  and q.entity_type = $2::text
  and q.permission = $3::text
  and q.subject_type = $4::text
  and q.subject_relation = ''
