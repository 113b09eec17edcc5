-- $1: item_0
-- $2: subject_0
-- $3: id_0
-- $4: depth
-- $5: tenant

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
      with recursive search0(state, id, level, goal) as (
        (
          select 2, $3::text collate "C" collate "C", 0::numeric, 2
          union all
          select 0, $3::text collate "C" collate "C", 0::numeric, 0
        )
        union
        select n0.state, n0.id, s0.level * 0.0, s0.goal
        from search0 s0
        cross join lateral (
          select case when (
            select c.v
            from cut_off c
          ) then 1 else 3 end as state, r.subject_id as id
          from relationships r
          where r.tenant = t.number
          and r.relation = ('[0:2]={"viewer","member","banned"}'::text[])[s0.state]
          and r.entity_id = s0.id
          and r.entity_type = ('[0:2]={"folder","group","folder"}'::text[])[s0.state]
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
          offset 0
        ) n0
      )
      select least(least(r.seen & 3, 2), least((r.seen >> 2) & 3, 2)) as v, r.n - r.is_end::int as n
      from (
        select f.is_end, coalesce(bit_or((f.v << f.goal)) over w, 0) | (f.v << f.goal) as seen, row_number() over w as n, f.goal = 0
        and (not (exists (
          select 1
          from (
            select 1
            from relationships r
            where r.tenant = t.number
            and r.relation = 'banned'
            and r.entity_id = $3::text collate "C"
            and r.entity_type = 'folder'
            and r.subject_type = 'group'
            and r.subject_relation = 'member'
          ) e
          offset 0
        )) or scale(f.level) > 0 and not (
          select c.v
          from cut_off c
        )) as decided1
        from (
          select case when s0.state >= 3 then (
            select case when scale(s0.level) + scale(c.level) <= $4::int then 2 else 1 end
            from closure c
            where c.id = s0.id
            limit 1
          ) when exists (
            select 1
            from (
              select 1
              from relationships r
              where r.tenant = t.number
              and r.relation = ('[0:2]={"viewer","member","banned"}'::text[])[s0.state]
              and r.entity_id = s0.id
              and r.entity_type = ('[0:2]={"folder","group","folder"}'::text[])[s0.state]
              and r.subject_type = 'user'
              and r.subject_relation = ''
              and r.subject_id = $2::text collate "C"
            ) d
            offset 0
          ) then case when scale(s0.level) <= $4::int then 2 else 1 end else 0 end as v, s0.goal, s0.level, false as is_end
          from search0 s0
          union all
          select 0, 0, null, true
        ) f window w as (rows between unbounded preceding and 1 preceding)
      ) r
      where r.is_end or r.seen & 2 <> 0
      and (r.decided1 or r.seen & 8 <> 0) or r.decided1
      and least((r.seen >> 2) & 3, 2) = 0
      limit 1
    ) x
  ) c
) a
where t.id = $5::text
