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
    select u.subject collate "C" as id, array_agg(u.id) as others, array_agg(u.item) as items
    from unnest($1::text[], $2::text[], $3::int[]) as u(id, subject, item) group by u.subject
  ) asked
  cross join lateral (
    with recursive closure(userset, id, level) as materialized (
      select 0, back.id, round(back.level, scale(back.level) - 1)
      from back
      where back.state = 1
    ), cut_off as materialized (
      select false as v
    ), back(state, id, level, sure) as materialized (
      select b.*
      from (
        with recursive back(state, id, level, sure) as (
          (
            select 2, asked.id, 0::numeric, true
          )
          union
          select n.state, n.id, back.level * 0.0, back.sure
          and n.sure
          from back
          cross join lateral (
            select s.state, p.id, s.sure
            from lateral (
              select q.*
              from (
                select r.entity_type, r.relation, r.entity_id as id
                from relationships r
                where r.tenant = t.number
                and r.subject_id = back.id
                and r.subject_type = ('[0:2]={"folder","group","user"}'::text[])[back.state]
                and (r.subject_relation, r.entity_type, r.relation) >= (('[0:2]={"","member",""}'::text[])[back.state], ('[0:2]={"folder","folder","folder"}'::text[])[back.state], ('[0:2]={"parent","viewer","owner"}'::text[])[back.state])
                and (r.subject_relation, r.entity_type, r.relation) <= (('[0:2]={"~","member",""}'::text[])[back.state], ('[0:2]={"","group","group"}'::text[])[back.state], ('[0:2]={"","member","member"}'::text[])[back.state])
              ) q
              offset 0
            ) p
            cross join lateral (
              select case when back.state in (0) and p.entity_type = 'folder' and p.relation = 'parent' then 0 when back.state in (1, 2) and p.entity_type = 'folder' and p.relation = 'viewer' then 0 when back.state in (1, 2) and p.entity_type = 'group' and p.relation = 'member' then 1 when back.state in (2) and p.entity_type = 'folder' and p.relation = 'owner' then 0 end as state, true as sure
            ) s
            where s.state is not null
            offset 0
          ) n
        )
        select back.*
        from back
        limit 2 * cardinality(asked.items) + 1
      ) b
    ), is_whole as materialized (
      select (
        select count(*)
        from back
      ) <= 2 * cardinality(asked.items) as v
    )
    select o.item, o.v, o.n
    from (
      select found.item, v.v, 1::bigint as n
      from (
        select k.id, k.item, m.sure, case when m.sure then true else ((k.id in (
          select b.id
          from back b
          where b.state = 0
        )) is true) end as is_found
        from (
          select u.id collate "C" as id, u.item
          from unnest(asked.others, asked.items) as u(id, item)
          offset 0
        ) k
        cross join lateral (
          select ((k.id in (
            select b.id
            from back b
            where b.state = 0
            and b.sure
            and scale(b.level) - 1 <= $4::int
          )) is true) as sure
          offset 0
        ) m
        offset 0
      ) found
      cross join lateral (
        select case when found.is_found then (least(2, case when found.sure then 2 else 1 end)) else 0 end as v
        offset 0
      ) v
    ) o
    where (
      select w.v
      from is_whole w
    )
    union all
    select o.item, o.v, o.n
    from (
      with recursive ends(state, id, level, sure) as materialized (
        select b.*
        from (
          with recursive back(state, id, level, sure) as (
            (
              select 2, asked.id, 0::numeric, true
            )
            union
            select n.state, n.id, back.level * 0.0, back.sure
            and n.sure
            from back
            cross join lateral (
              select s.state, p.id, s.sure
              from lateral (
                select q.*
                from (
                  select r.entity_type, r.relation, r.entity_id as id
                  from relationships r
                  where r.tenant = t.number
                  and r.subject_id = back.id
                  and r.subject_type = ('[0:2]={null,"group","user"}'::text[])[back.state]
                  and (r.subject_relation, r.entity_type, r.relation) >= (('[0:2]={null,"member",""}'::text[])[back.state], ('[0:2]={null,"folder","folder"}'::text[])[back.state], ('[0:2]={null,"viewer","owner"}'::text[])[back.state])
                  and (r.subject_relation, r.entity_type, r.relation) <= (('[0:2]={null,"member",""}'::text[])[back.state], ('[0:2]={null,"group","group"}'::text[])[back.state], ('[0:2]={null,"member","member"}'::text[])[back.state])
                ) q
                offset 0
              ) p
              cross join lateral (
                select case when back.state in (1, 2) and p.entity_type = 'folder' and p.relation = 'viewer' then 0 when back.state in (1, 2) and p.entity_type = 'group' and p.relation = 'member' then 1 when back.state in (2) and p.entity_type = 'folder' and p.relation = 'owner' then 0 end as state, true as sure
              ) s
              where s.state is not null
              offset 0
            ) n
          )
          select back.*
          from back
          limit 2 * cardinality(asked.items) + 1
        ) b
      ), is_whole as materialized (
        select (
          select count(*)
          from ends
        ) <= 2 * cardinality(asked.items) as v
      )
      select o.item, o.v, o.n
      from (
        with recursive closure(userset, id, level) as materialized (
          select 0, back.id, round(back.level, scale(back.level) - 1)
          from back
          where back.state = 1
        ), cut_off as materialized (
          select false as v
        ), back(state, id, level, sure) as materialized (
          select e.*
          from ends e
        )
        select found.item, v.v, 1::bigint as n
        from (
          select k.id, k.item, m.sure, case when m.sure then true else (m.is_met or false) end as is_found
          from (
            select u.id collate "C" as id, u.item
            from unnest(asked.others, asked.items) as u(id, item)
            offset 0
          ) k
          cross join lateral (
            select w.met = 2 as sure, w.met > 0 as is_met
            from (
              select case when false then 2 else coalesce(
                (
                  with recursive search0(state, id, level) as (
                    (
                      select 0, k.id collate "C", 0::numeric
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
                      and r.entity_type = 'folder'
                      and r.subject_type = 'folder'
                      offset 0
                    ) n0
                  )
                  select case when scale(s0.level) + (
                    select coalesce(max(scale(b.level)), 1) - 1
                    from back b
                  ) <= $4::int then 2 else 1 end
                  from search0 s0
                  where ((s0.state, s0.id) in (
                    select b.state, b.id
                    from back b
                  )) is true
                  limit 1
                ), 0
              ) end as met
              offset 0
            ) w
            offset 0
          ) m
          offset 0
        ) found
        cross join lateral (
          select case when found.is_found then (case when found.sure then 2 else (
            select x.v
            from (
              with recursive search0(state, id, level) as (
                (
                  select 0, found.id collate "C", 0::numeric
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
                          and r.subject_id = asked.id
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
          ) end) else 0 end as v
          offset 0
        ) v
      ) o
      where (
        select w.v
        from is_whole w
      )
      union all
      select o.item, o.v, o.n
      from (
        with recursive closure(userset, id, level) as (
          (
            select 0, r.entity_id, 0::numeric
            from relationships r
            where r.tenant = t.number
            and r.subject_id = asked.id
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
            and r.subject_id = asked.id
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
        select q.item, c.v, c.n
        from (
          select u.id collate "C" as id, u.item
          from unnest(asked.others, asked.items) as u(id, item)
          offset 0
        ) q
        cross join lateral (
          select x.v, x.n
          from (
            with recursive search0(state, id, level) as (
              (
                select 0, q.id collate "C", 0::numeric
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
                        and r.subject_id = asked.id
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
          offset 0
        ) c
      ) o
      where not (
        select w.v
        from is_whole w
      )
    ) o
    where not (
      select w.v
      from is_whole w
    )
  ) a
) a
where t.id = $5::text
