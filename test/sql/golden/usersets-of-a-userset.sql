-- $1: item_0
-- $2: subject_0
-- $3: id_0
-- $4: depth
-- $5: tenant

select t.head_version, a.item, a.verdict, a.nodes, a.facts
from tenants t
cross join lateral (
  select $1::int as item, c.v as verdict, c.n as nodes, c.facts
  from (
    with recursive closure(userset, id, level) as (
      (
        select 0, $2::text collate "C", 0::numeric
        union all
        select 0, r.entity_id, 0::numeric
        from relationships r
        where r.tenant = t.number
        and r.subject_id = $2::text collate "C"
        and r.subject_type = 'group'
        and r.subject_relation = 'member'
        and r.entity_type = 'group'
        and r.relation = 'member'
      )
      union
      select p.userset, p.id, c.level * 0.0
      from closure c
      cross join lateral (
        select 0 as userset, r.entity_id as id
        from relationships r
        where r.tenant = t.number
        and c.userset = 0
        and r.subject_id = c.id
        and r.subject_type = 'group'
        and r.subject_relation = 'member'
        and r.entity_type = 'group'
        and r.relation = 'member'
        offset 0
      ) p
    ), closed as materialized (
      select count(*) > 100 as capped
      from (
        select *
        from closure
        limit 101
      ) c
    )
    select x.v, x.n, null::jsonb as facts
    from (
      with recursive search0(state, id, level) as (
        (
          select 0, $3::text collate "C" collate "C", 0::numeric
        )
        union
        select n0.state, n0.id, s0.level * 0.0
        from search0 s0
        cross join lateral (
          select 0 as state, r.subject_id as id
          from relationships r
          where r.tenant = t.number
          and r.relation = 'member'
          and (
            select c.capped
            from closed c
          )
          and r.entity_id = s0.id
          and r.entity_type = 'group'
          and r.subject_type = 'group'
          and r.subject_relation = 'member'
          offset 0
        ) n0
      ), verdicts as (
        select case when (true and s0.id = $2::text collate "C") or exists (
          select 1
          from (
            select 1
            from relationships r
            where r.tenant = t.number
            and r.relation = 'member'
            and r.entity_id = s0.id
            and r.entity_type = 'group'
            and r.subject_type = 'group'
            and r.subject_relation = 'member'
            and r.subject_id = $2::text collate "C"
          ) d
          offset 0
        ) then case when scale(s0.level) <= $4::int then 2 else 1 end else coalesce(
          (
            select case when scale(s0.level) + 1 + min(
              (
                select scale(c.level)
                from closure c
                where c.id = d.id
                limit 1
              )
            ) <= $4::int then 2 else 1 end
            from (
              select r.subject_id as id
              from relationships r
              where r.tenant = t.number
              and r.relation = 'member'
              and r.entity_id = s0.id
              and r.entity_type = 'group'
              and r.subject_type = 'group'
              and r.subject_relation = 'member'
              and (r.subject_id in (
                select c.id
                from (
                  select *
                  from closure
                  limit 101
                ) c
              )) is true
            ) d
            having count(*) > 0
          ), 0
        ) end as v, row_number() over () as n
        from search0 s0
      ) (
        select f.v, f.n
        from verdicts f
        where f.v = 2
      )
      union all (
        select coalesce(max(f.v), 0), count(*)
        from verdicts f
      )
      limit 1
    ) x
  ) c
) a
where t.id = $5::text
