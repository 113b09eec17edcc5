-- $1: id_0
-- $2: subject_0
-- $3: item_0
-- $4: depth
-- $5: tenant

select t.head_version, a.item, a.verdict, a.nodes, null::text as facts
from tenants t
cross join lateral (
  select a.item, a.v as verdict, a.n as nodes, null::text[] as facts
  from (
    select u.id collate "C" as id, array_agg(u.subject) as others, array_agg(u.item) as items
    from unnest($1::text[], $2::text[], $3::int[]) as u(id, subject, item) group by u.id
  ) asked
  cross join lateral (
    with recursive ahead as materialized (
      select b.*
      from (
        with recursive search0(state, id, level) as (
          (
            select 0, asked.id collate "C", 0::numeric
          )
          union
          select n0.state, n0.id, s0.level * 0.0
          from search0 s0
          cross join lateral (
            select 0 as state, r.subject_id as id
            from relationships r
            where r.tenant = t.number
            and r.relation = 'parent'
            and r.entity_id = s0.id
            and r.entity_type = ('[0:0]={"folder"}'::text[])[s0.state]
            and r.subject_type = 'folder'
            union all
            select 2 as state, r.subject_id as id
            from relationships r
            where r.tenant = t.number
            and r.relation = ('[0:1]={"viewer","member"}'::text[])[s0.state]
            and r.entity_id = s0.id
            and r.entity_type = ('[0:1]={"folder","group"}'::text[])[s0.state]
            and r.subject_type = 'group'
            and r.subject_relation = 'member'
          ) n0
        )
        select search0.*
        from search0
        limit 2 * cardinality(asked.items) + 1
      ) b
    ), is_whole as materialized (
      select (
        select count(*)
        from ahead
      ) <= 2 * cardinality(asked.items) as v
    )
    select o.item, o.v, o.n
    from (
      select k.item, c.v, 1::bigint as n
      from (
        select u.id collate "C" as id, u.item
        from unnest(asked.others, asked.items) as u(id, item)
        offset 0
      ) k
      cross join lateral (
        with recursive closure(userset, id, level) as (
          (
            select 0, r.entity_id, 0::numeric
            from relationships r
            where r.tenant = t.number
            and r.subject_id = k.id
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
            and r.subject_id = k.id
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
        select case when (
          select c.v
          from cut_off c
        ) then (
          select x.v
          from (
            with recursive search1(state, id, level) as (
              (
                select 0, asked.id collate "C", 0::numeric
              )
              union
              select n1.state, n1.id, s1.level * 0.0
              from search1 s1
              cross join lateral (
                select 0 as state, r.subject_id as id
                from relationships r
                where r.tenant = t.number
                and r.relation = 'parent'
                and r.entity_id = s1.id
                and r.entity_type = ('[0:0]={"folder"}'::text[])[s1.state]
                and r.subject_type = 'folder'
                union all
                select case when (
                  select c.v
                  from cut_off c
                ) then 1 else 2 end as state, r.subject_id as id
                from relationships r
                where r.tenant = t.number
                and r.relation = ('[0:1]={"viewer","member"}'::text[])[s1.state]
                and r.entity_id = s1.id
                and r.entity_type = ('[0:1]={"folder","group"}'::text[])[s1.state]
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
              ) n1
            )
            select least(r.seen & 3, 2) as v, r.n - r.is_end::int as n
            from (
              select f.is_end, coalesce(bit_or(f.v) over w, 0) | f.v as seen, row_number() over w as n
              from (
                select case when s1.state >= 2 then (
                  select case when scale(s1.level) + scale(c.level) <= $4::int then 2 else 1 end
                  from closure c
                  where c.id = s1.id
                  limit 1
                ) when exists (
                  select 1
                  from (
                    select p.*
                    from unnest(case s1.state when 0 then array['viewer', 'owner'] when 1 then array['member'] end) o(name)
                    cross join lateral (
                      select q.*
                      from (
                        select 1
                        from relationships r
                        where r.tenant = t.number
                        and r.relation = o.name collate "C"
                        and r.entity_id = s1.id
                        and r.entity_type = ('[0:1]={"folder","group"}'::text[])[s1.state]
                        and r.subject_type = 'user'
                        and r.subject_relation = ''
                        and r.subject_id = k.id
                      ) q
                      offset 0
                    ) p
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
          ) x
        ) else coalesce(
          (
            select max(case when s0.state >= 2 then (
              select case when scale(s0.level) + scale(c.level) <= $4::int then 2 else 1 end
              from closure c
              where c.id = s0.id
              limit 1
            ) when exists (
              select 1
              from (
                select p.*
                from unnest(case s0.state when 0 then array['viewer', 'owner'] when 1 then array['member'] end) o(name)
                cross join lateral (
                  select q.*
                  from (
                    select 1
                    from relationships r
                    where r.tenant = t.number
                    and r.relation = o.name collate "C"
                    and r.entity_id = s0.id
                    and r.entity_type = ('[0:1]={"folder","group"}'::text[])[s0.state]
                    and r.subject_type = 'user'
                    and r.subject_relation = ''
                    and r.subject_id = k.id
                  ) q
                  offset 0
                ) p
              ) d
              offset 0
            ) then case when scale(s0.level) <= $4::int then 2 else 1 end else 0 end)
            from ahead s0
            where (s0.state < 2 or s0.id in (
              select c.id
              from closure c
            )) is true
          ), 0
        ) end as v
        offset 0
      ) c
    ) o
    where (
      select w.v
      from is_whole w
    )
    union all
    select o.item, o.v, o.n
    from (
      select q.item, c.v, c.n
      from (
        select u.id collate "C" as id, u.item
        from unnest(asked.others, asked.items) as u(id, item)
        offset 0
      ) q
      cross join lateral (
        with recursive closure(userset, id, level) as (
          (
            select 0, r.entity_id, 0::numeric
            from relationships r
            where r.tenant = t.number
            and r.subject_id = q.id
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
            and r.subject_id = q.id
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
        select x.v, x.n
        from (
          with recursive search0(state, id, level) as (
            (
              select 0, asked.id collate "C", 0::numeric
            )
            union
            select n0.state, n0.id, s0.level * 0.0
            from search0 s0
            cross join lateral (
              select 0 as state, r.subject_id as id
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
              ) then 1 else 2 end as state, r.subject_id as id
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
          )
          select least(r.seen & 3, 2) as v, r.n - r.is_end::int as n
          from (
            select f.is_end, coalesce(bit_or(f.v) over w, 0) | f.v as seen, row_number() over w as n
            from (
              select case when s0.state >= 2 then (
                select case when scale(s0.level) + scale(c.level) <= $4::int then 2 else 1 end
                from closure c
                where c.id = s0.id
                limit 1
              ) when exists (
                select 1
                from (
                  select p.*
                  from unnest(case s0.state when 0 then array['viewer', 'owner'] when 1 then array['member'] end) o(name)
                  cross join lateral (
                    select q.*
                    from (
                      select 1
                      from relationships r
                      where r.tenant = t.number
                      and r.relation = o.name collate "C"
                      and r.entity_id = s0.id
                      and r.entity_type = ('[0:1]={"folder","group"}'::text[])[s0.state]
                      and r.subject_type = 'user'
                      and r.subject_relation = ''
                      and r.subject_id = q.id
                    ) q
                    offset 0
                  ) p
                ) d
                offset 0
              ) then case when scale(s0.level) <= $4::int then 2 else 1 end else 0 end as v, false as is_end
              from search0 s0
              union all
              select 0, true
            ) f window w as (rows between unbounded preceding and 1 preceding)
          ) r
          where r.is_end or r.seen & 2 <> 0
          limit 1
        ) x
      ) c
    ) o
    where not (
      select w.v
      from is_whole w
    )
  ) a
) a
where t.id = $5::text
