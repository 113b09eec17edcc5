-- $1: item_0
-- $2: id_0
-- $3: subject_0
-- $4: tenant

select t.head_version, a.item, a.verdict, a.nodes, null::text as facts
from tenants t
cross join lateral (
  select $1::int as item, c.v as verdict, c.n as nodes, c.facts
  from (
    select x.v, x.n, null::text[] as facts
    from (
      select case when exists (
        select 1
        from (
          select 1
          from relationships r
          where r.tenant = t.number
          and r.relation = 'owner'
          and r.entity_id = $2::text collate "C"
          and r.entity_type = 'folder'
          and r.subject_type = 'user'
          and r.subject_relation = ''
          and r.subject_id = $3::text collate "C"
        ) d
        offset 0
      ) then 2 else 0 end as v, 1::bigint as n
    ) x
  ) c
) a
where t.id = $4::text
