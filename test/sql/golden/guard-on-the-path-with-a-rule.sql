-- $1: item_0
-- $2: subject_0
-- $3: id_0
-- $4: data
-- $5: depth
-- $6: tenant

select t.head_version, a.item, a.verdict, a.nodes, null::text as facts
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
        and r.subject_id = c.id
        and r.subject_type = 'group'
        and r.subject_relation = 'member'
        and r.entity_type = 'group'
        and r.relation = 'member'
        offset 0
      ) p
    ), cut_off as materialized (
      select exists (
        select 0, r.entity_id, 0::numeric
        from relationships r
        where r.tenant = t.number
        and r.subject_id = $2::text collate "C"
        and r.subject_type = 'user'
        and r.subject_relation = ''
        and r.entity_type = 'group'
        and r.relation = 'member'
        offset 100
      ) or exists (
        select 1
        from closure
        offset 100
      ) as v
    )
    select x.v, x.n, null::text[] as facts
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
          select case when (
            select c.v
            from cut_off c
          ) then 1 else 4 end as state, r.subject_id as id, true as sure
          from relationships r
          where r.tenant = t.number
          and r.relation = ('[0:1]={"viewer","member"}'::text[])[s0.state]
          and r.entity_id = s0.id
          and r.entity_type = ('[0:1]={"folder","group"}'::text[])[s0.state]
          and r.subject_type = 'group'
          and r.subject_relation = 'member'
          and (
            (
              select c.v
              from cut_off c
            ) or r.subject_id in (
              select c.id
              from closure c
            )
          )
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
            select 0 as state, r.subject_id as id
            from relationships r
            where r.tenant = t.number
            and r.relation = 'parent'
            and r.entity_id = s0.id
            and r.entity_type = ('[0:0]={"folder"}'::text[])[s0.state]
            and r.subject_type = 'folder'
          ) h
          where g.v > 0
        ) n0
      )
      select least(r.seen & 3, 2) as v, r.n - r.is_end::int as n
      from (
        select f.is_end, coalesce(bit_or(f.v) over w, 0) | f.v as seen, row_number() over w as n
        from (
          select case when s0.state >= 4 then (
            select case when s0.sure and scale(s0.level) + scale(c.level) <= $5::int then 2 else 1 end
            from closure c
            where c.id = s0.id
            limit 1
          ) when exists (
            select 1
            from (
              select 1
              from relationships r
              where r.tenant = t.number
              and r.relation = ('[0:1]={"viewer","member"}'::text[])[s0.state]
              and r.entity_id = s0.id
              and r.entity_type = ('[0:1]={"folder","group"}'::text[])[s0.state]
              and r.subject_type = 'user'
              and r.subject_relation = ''
              and r.subject_id = $2::text collate "C"
            ) d
            offset 0
          ) then case when s0.sure and scale(s0.level) <= $5::int then 2 else 1 end else 0 end as v, false as is_end
          from search0 s0
          union all
          select 0, true
        ) f window w as (rows between unbounded preceding and 1 preceding)
      ) r
      where r.is_end or r.seen & 2 <> 0
      limit 1
    ) x
  ) c
) a
where t.id = $6::text
