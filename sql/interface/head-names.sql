-- What can be written under the heads of the tenant $1, or of all tenants if it is empty, as far as they
-- were synced: rows as in `names`, each once, with the number of `tenants` whose head has it, and that of
-- all `heads`. The row of the entity type comes before its names.
with heads as materialized (
  select t.number, t.head_version
  from :"tables".tenants as t
  join :"plans".versions as v on v.tenant = t.number and v.version = t.head_version
  where $1::text in ('', t.id)
)
select n.entity_type, n.name, n.subject_type, n.subject_relation, n.value_type,
  count(*)::integer as tenants,
  (select count(*) from heads)::integer as heads
from heads as h
join :"plans".names as n on n.tenant = h.number and n.version = h.head_version
group by n.entity_type, n.name, n.subject_type, n.subject_relation, n.value_type
order by min(n.place)
