-- Returns one row about the plan functions: `known`, how many there are; `unused`, to how many of them no
-- question leads; `lost`, how many of them some head of a tenant needs, although they are not in the
-- database any more.
select
  count(*)::integer as known,
  (count(*) filter (
    where not exists (
      select from :"plans".questions as q where q.plans @> jsonb_build_object(p.kind, p.hash)
    )
  ))::integer as unused,
  (count(*) filter (
    where to_regprocedure(p.signature) is null
      and exists (
        select
        from :"plans".questions as q
        join :"tables".tenants as t on t.number = q.tenant and t.head_version = q.version
        where q.plans @> jsonb_build_object(p.kind, p.hash)
      )
  ))::integer as lost
from :"plans".plans as p
