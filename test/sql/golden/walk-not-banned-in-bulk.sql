-- $1: id_0
-- $2: subject_0
-- $3: item_0
-- $4: depth
-- $5: tenant

select t.head_version, a.item, a.verdict, a.nodes, null::text as facts
from tenants t
cross join lateral (
  select q.item, c.v as verdict, c.n as nodes, c.facts
  from (
    select u.id collate "C" as id, u.subject collate "C" as subject, u.item
    from unnest($1::text[], $2::text[], $3::int[]) as u(id, subject, item)
  ) q
  cross join lateral (
    with recursive closure(userset, id, level) as (
      (
        select 0, r.entity_id, 0::numeric
        from relationships r
        where r.tenant = t.number
        and r.subject_id = q.subject
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
        and r.subject_id = q.subject
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
          select 0, q.id collate "C", 0::numeric, g.v = 2
          from (
            select 2 - (
              with recursive search1(state, id, level) as (
                (
                  select 2, q.id collate "C", 0::numeric
                )
                union
                select n1.state, n1.id, s1.level * 0.0
                from search1 s1
                cross join lateral (
                  select case when (
                    select c.v
                    from cut_off c
                  ) then 1 else 3 end as state, r.subject_id as id
                  from relationships r
                  where r.tenant = t.number
                  and r.relation = ('[0:2]={null,"member","banned"}'::text[])[s1.state]
                  and r.entity_id = s1.id
                  and r.entity_type = ('[0:2]={null,"group","folder"}'::text[])[s1.state]
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
                ) n1
              )
              select least(r.seen & 3, 2)
              from (
                select f.is_end, coalesce(bit_or(f.v) over w, 0) | f.v as seen, row_number() over w as n
                from (
                  select case when s1.state >= 3 then (
                    select case when scale(s1.level) + scale(c.level) <= $4::int then 2 else 1 end
                    from closure c
                    where c.id = s1.id
                    limit 1
                  ) when exists (
                    select 1
                    from (
                      select 1
                      from relationships r
                      where r.tenant = t.number
                      and r.relation = ('[0:2]={null,"member","banned"}'::text[])[s1.state]
                      and r.entity_id = s1.id
                      and r.entity_type = ('[0:2]={null,"group","folder"}'::text[])[s1.state]
                      and r.subject_type = 'user'
                      and r.subject_relation = ''
                      and r.subject_id = q.subject
                    ) d
                    offset 0
                  ) then case when scale(s1.level) <= $4::int then 2 else 1 end else 0 end as v, false as is_end
                  from search1 s1
                  union all
                  select 0, true
                ) f window w as (rows between unbounded preceding and 1 preceding)
              ) r
              where r.is_end or r.seen & 2 <> 0
              limit 1
            ) as v
            offset 0
          ) g
          where g.v > 0
        )
        union
        select n0.state, n0.id, s0.level * 0.0, s0.sure
        and n0.sure
        and g.v = 2
        from search0 s0
        cross join lateral (
          select 0 as state, r.subject_id as id, true as sure
          from relationships r
          where r.tenant = t.number
          and r.relation = 'parent'
          and r.entity_id = s0.id
          and r.entity_type = ('[0:0]={"folder"}'::text[])[s0.state]
          and r.subject_type = 'folder'
          union all
          select case when (
            select c.v
            from cut_off c
          ) then 1 else 3 end as state, r.subject_id as id, true as sure
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
        ) n0
        cross join lateral (
          select coalesce(case n0.state when 0 then 2 - (
            with recursive search2(state, id, level) as (
              (
                select 2, n0.id collate "C", s0.level * 0.0
              )
              union
              select n2.state, n2.id, s2.level * 0.0
              from search2 s2
              cross join lateral (
                select case when (
                  select c.v
                  from cut_off c
                ) then 1 else 3 end as state, r.subject_id as id
                from relationships r
                where r.tenant = t.number
                and r.relation = ('[0:2]={null,"member","banned"}'::text[])[s2.state]
                and r.entity_id = s2.id
                and r.entity_type = ('[0:2]={null,"group","folder"}'::text[])[s2.state]
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
              ) n2
            )
            select least(r.seen & 3, 2)
            from (
              select f.is_end, coalesce(bit_or(f.v) over w, 0) | f.v as seen, row_number() over w as n
              from (
                select case when s2.state >= 3 then (
                  select case when scale(s2.level) + scale(c.level) <= $4::int then 2 else 1 end
                  from closure c
                  where c.id = s2.id
                  limit 1
                ) when exists (
                  select 1
                  from (
                    select 1
                    from relationships r
                    where r.tenant = t.number
                    and r.relation = ('[0:2]={null,"member","banned"}'::text[])[s2.state]
                    and r.entity_id = s2.id
                    and r.entity_type = ('[0:2]={null,"group","folder"}'::text[])[s2.state]
                    and r.subject_type = 'user'
                    and r.subject_relation = ''
                    and r.subject_id = q.subject
                  ) d
                  offset 0
                ) then case when scale(s2.level) <= $4::int then 2 else 1 end else 0 end as v, false as is_end
                from search2 s2
                union all
                select 0, true
              ) f window w as (rows between unbounded preceding and 1 preceding)
            ) r
            where r.is_end or r.seen & 2 <> 0
            limit 1
          ) end, 2) as v
          offset 0
        ) g
        where g.v > 0
      )
      select least(r.seen & 3, 2) as v, r.n - r.is_end::int as n
      from (
        select f.is_end, coalesce(bit_or(f.v) over w, 0) | f.v as seen, row_number() over w as n
        from (
          select case when s0.state >= 3 then (
            select case when s0.sure and scale(s0.level) + scale(c.level) <= $4::int then 2 else 1 end
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
              and r.subject_id = q.subject
            ) d
            offset 0
          ) then case when s0.sure and scale(s0.level) <= $4::int then 2 else 1 end else 0 end as v, false as is_end
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
where t.id = $5::text
