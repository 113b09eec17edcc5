-- $1: item_0
-- $2: subject_0
-- $3: id_0
-- $4: data
-- $5: depth
-- $6: tenant

select t.head_version, a.item, a.verdict, a.nodes, a.facts
from tenants t
cross join lateral (
  select $1::int as item, c.v as verdict, c.n as nodes, c.facts
  from (
    with recursive closure(userset, id, level) as (
      (
        select 0, r.entity_id, 0::numeric
        from relationships r
        where r.tenant = t.number
        and r.subject_id = $2::text collate "C"
        and r.subject_type = 'user'
        and r.subject_relation = ''
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
      with recursive search0(state, id, level, sure) as (
        (
          select 0, $3::text collate "C" collate "C", 0::numeric, true
        )
        union
        select n0.state, n0.id, s0.level * 0.0, s0.sure
        and n0.sure
        from search0 s0
        cross join lateral (
          select 1 as state, r.subject_id as id, true as sure
          from relationships r
          where r.tenant = t.number
          and r.relation = case s0.state when 0 then 'viewer' when 1 then 'member' end
          and (
            select c.capped
            from closed c
          )
          and r.entity_id = s0.id
          and r.entity_type = case s0.state when 0 then 'folder' when 1 then 'group' end
          and r.subject_type = 'group'
          and r.subject_relation = 'member'
          union all
          select h.state, h.id, g.v = 2 as sure
          from (
            select case when s0.state = 0 then least(case when exists (
              select 1
              from (
                select 1
                from relationships r
                where r.tenant = t.number
                and r.relation = 'owner'
                and r.entity_id = s0.id
                and r.entity_type = 'folder'
                and r.subject_type = 'user'
                and r.subject_relation = ''
                and r.subject_id = $2::text collate "C"
              ) d
              offset 0
            ) then 2 else coalesce(
              (
                select case when a.value_type <> 'boolean' then 1 when a.value = 'true'::jsonb then 2 else 0 end
                from (
                  select r.value_type, r.value
                  from attributes r
                  where r.tenant = t.number
                  and r.entity_id = s0.id
                  and r.attribute = 'open'
                  and r.entity_type = 'folder'
                ) a
              ), 0
            ) end, (
              select case when v1.fit then case ((case when jsonb_typeof((v1.data -> 'limit'::text)) = 'number' then ((v1.data -> 'limit'::text))::double precision end < (v1.p0)::double precision)) when true then 2 when false then 0 else 1 end else 1 end
              from (
                select $4::text::jsonb as data, case when p1_0.value_type = 'integer' then coalesce((p1_0.value #>> '{}')::bigint, 0::bigint) else 0::bigint end as p0, (p1_0.value_type is null or p1_0.value_type = 'integer') as fit
                from (
                  select 1
                ) one
                left join lateral (
                  select r.value_type, r.value
                  from attributes r
                  where r.tenant = t.number
                  and r.entity_id = s0.id
                  and r.attribute = 'level'
                  and r.entity_type = 'folder'
                ) p1_0 on true
                offset 0
              ) v1
            )) else 0 end as v
            offset 0
          ) g
          cross join lateral (
            select case s0.state when 0 then 0 end as state, r.subject_id as id
            from relationships r
            where r.tenant = t.number
            and r.relation = case s0.state when 0 then 'parent' end
            and r.entity_id = s0.id
            and r.entity_type = case s0.state when 0 then 'folder' end
            and r.subject_type = case s0.state when 0 then 'folder' end
          ) h
          where g.v > 0
        ) n0
      ), verdicts as (
        select case when exists (
          select 1
          from (
            select 1
            from relationships r
            where r.tenant = t.number
            and r.relation = case s0.state when 0 then 'viewer' when 1 then 'member' end
            and r.entity_id = s0.id
            and r.entity_type = case s0.state when 0 then 'folder' when 1 then 'group' end
            and r.subject_type = 'user'
            and r.subject_relation = ''
            and r.subject_id = $2::text collate "C"
          ) d
          offset 0
        ) then case when s0.sure and scale(s0.level) <= $5::int then 2 else 1 end else coalesce(
          (
            select case when s0.sure and scale(s0.level) + 1 + min(
              (
                select scale(c.level)
                from closure c
                where c.id = d.id
                limit 1
              )
            ) <= $5::int then 2 else 1 end
            from (
              select r.subject_id as id
              from relationships r
              where r.tenant = t.number
              and r.relation = case s0.state when 0 then 'viewer' end
              and r.entity_id = s0.id
              and r.entity_type = case s0.state when 0 then 'folder' end
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
where t.id = $6::text
