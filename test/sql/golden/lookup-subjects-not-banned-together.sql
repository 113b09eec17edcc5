-- $1: id
-- $2: depth
-- $3: after
-- $4: candidates
-- $5: answers
-- $6: tenant

select t.head_version, case when current_setting('transaction_read_only') = 'on' then settled_state(t.number, t.created_xid) else pg_current_snapshot()::text end as snapshot, greatest(t.created_xid, (
  select d.xid
  from durable_xid d
))::text as durable, current_timeline() as timeline, a.*
from tenants t
cross join lateral (
  with recursive reach(state, id, level, sure) as (
    select 0, $1::text collate "C" collate "C", 0::numeric, true
    union
    select n.state, n.id, reach.level * 0.0, reach.sure
    and n.sure
    from reach
    cross join lateral (
      select 0 as state, r.subject_id as id, false as sure
      from relationships r
      where r.tenant = t.number
      and r.relation = 'parent'
      and r.entity_id = reach.id
      and r.entity_type = ('[0:0]={"folder"}'::text[])[reach.state]
      and r.subject_type = 'folder'
      union all
      select 1 as state, r.subject_id as id, true as sure
      from relationships r
      where r.tenant = t.number
      and r.relation = ('[0:1]={"viewer","member"}'::text[])[reach.state]
      and r.entity_id = reach.id
      and r.entity_type = ('[0:1]={"folder","group"}'::text[])[reach.state]
      and r.subject_type = 'group'
      and r.subject_relation = 'member'
    ) n
  ), search0(state, id, level) as (
    (
      select 2, $1::text collate "C" collate "C", 0::numeric
    )
    union
    select n0.state, n0.id, s0.level * 0.0
    from search0 s0
    cross join lateral (
      select 1 as state, r.subject_id as id
      from relationships r
      where r.tenant = t.number
      and r.relation = ('[0:2]={null,"member","banned"}'::text[])[s0.state]
      and r.entity_id = s0.id
      and r.entity_type = ('[0:2]={null,"group","folder"}'::text[])[s0.state]
      and r.subject_type = 'group'
      and r.subject_relation = 'member'
      offset 0
    ) n0
  ), accepted2(id, near) as materialized (
    select p.id, scale(s0.level) <= $2::int
    from span
    cross join search0 s0
    left join lateral (
      select q.id
      from (
        select r.subject_id as id
        from relationships r
        where r.tenant = t.number
        and r.relation = ('[0:2]={null,"member","banned"}'::text[])[s0.state]
        and r.entity_id = s0.id
        and r.entity_type = ('[0:2]={null,"group","folder"}'::text[])[s0.state]
        and r.subject_type = 'user'
        and (r.subject_relation, r.subject_id) > ('', $3::text)
        and r.subject_relation <= ''
        and (r.subject_relation, r.subject_id) <= ('', span.last)
      ) q
      offset 0
    ) p on true
    limit (
      select 20 * span.candidates + 100 + 1
      from span
    )
  ), found as materialized (
    select distinct on (c.id) c.id, c.sure
    from (
      select c.*
      from (
        select c.id, reach.sure
        from (
          select reach.state, reach.id, reach.sure
          and scale(reach.level) <= $2::int as sure
          from reach
          offset 0
        ) reach
        cross join lateral (
          (
            select r.subject_id as id
            from relationships r
            where r.tenant = t.number
            and r.relation = ('[0:1]={"viewer","member"}'::text[])[reach.state]
            and r.entity_id = reach.id
            and r.entity_type = ('[0:1]={"folder","group"}'::text[])[reach.state]
            and r.subject_type = 'user'
            and (r.subject_relation, r.subject_id) > ('', $3::text)
            and r.subject_relation <= '' order by r.subject_relation, r.subject_id
            limit $4::int
          )
        ) c
      ) c(id, sure)
    ) c order by c.id, c.sure desc
    limit $4::int
  ), span as materialized (
    select count(*)::int as candidates, max(found.id) as last
    from found
  )
  select s.candidates, s.last, a.*, (
    select count(*) <= 20 * s.candidates + 100
    and coalesce(bool_and(a.near), true)
    from accepted2 a
  ) as is_decided
  from span s
  cross join (
    select string_agg(a.id, ' ') as answers, string_agg(a.id, ' ') filter (where a.v = 1) as unknown
    from (
      select j.id, j.v
      from (
        select found.id, (
          with recursive closure(userset, id, level) as (
            (
              select 0, r.entity_id, 0::numeric
              from relationships r
              where r.tenant = t.number
              and r.subject_id = found.id
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
              and r.subject_id = found.id
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
          select case when found.sure then 2 - case when (found.id in (
            select a.id
            from accepted2 a
            where a.id is not null
          )) is true then 2 else 0 end else (
            select x.v
            from (
              with recursive search1(state, id, level, sure) as (
                (
                  select 0, $1::text collate "C" collate "C", 0::numeric, g.v = 2
                  from (
                    select 2 - (
                      with recursive search2(state, id, level) as (
                        (
                          select 2, $1::text collate "C" collate "C", 0::numeric
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
                            select case when scale(s2.level) + scale(c.level) <= $2::int then 2 else 1 end
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
                              and r.subject_id = found.id
                            ) d
                            offset 0
                          ) then case when scale(s2.level) <= $2::int then 2 else 1 end else 0 end as v, false as is_end
                          from search2 s2
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
                select n1.state, n1.id, s1.level * 0.0, s1.sure
                and n1.sure
                and g.v = 2
                from search1 s1
                cross join lateral (
                  select 0 as state, r.subject_id as id, true as sure
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
                  ) then 1 else 3 end as state, r.subject_id as id, true as sure
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
                cross join lateral (
                  select coalesce(case n1.state when 0 then 2 - (
                    with recursive search3(state, id, level) as (
                      (
                        select 2, n1.id collate "C", s1.level * 0.0
                      )
                      union
                      select n3.state, n3.id, s3.level * 0.0
                      from search3 s3
                      cross join lateral (
                        select case when (
                          select c.v
                          from cut_off c
                        ) then 1 else 3 end as state, r.subject_id as id
                        from relationships r
                        where r.tenant = t.number
                        and r.relation = ('[0:2]={null,"member","banned"}'::text[])[s3.state]
                        and r.entity_id = s3.id
                        and r.entity_type = ('[0:2]={null,"group","folder"}'::text[])[s3.state]
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
                      ) n3
                    )
                    select least(r.seen & 3, 2)
                    from (
                      select f.is_end, coalesce(bit_or(f.v) over w, 0) | f.v as seen, row_number() over w as n
                      from (
                        select case when s3.state >= 3 then (
                          select case when scale(s3.level) + scale(c.level) <= $2::int then 2 else 1 end
                          from closure c
                          where c.id = s3.id
                          limit 1
                        ) when exists (
                          select 1
                          from (
                            select 1
                            from relationships r
                            where r.tenant = t.number
                            and r.relation = ('[0:2]={null,"member","banned"}'::text[])[s3.state]
                            and r.entity_id = s3.id
                            and r.entity_type = ('[0:2]={null,"group","folder"}'::text[])[s3.state]
                            and r.subject_type = 'user'
                            and r.subject_relation = ''
                            and r.subject_id = found.id
                          ) d
                          offset 0
                        ) then case when scale(s3.level) <= $2::int then 2 else 1 end else 0 end as v, false as is_end
                        from search3 s3
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
                  select case when s1.state >= 3 then (
                    select case when s1.sure and scale(s1.level) + scale(c.level) <= $2::int then 2 else 1 end
                    from closure c
                    where c.id = s1.id
                    limit 1
                  ) when exists (
                    select 1
                    from (
                      select 1
                      from relationships r
                      where r.tenant = t.number
                      and r.relation = ('[0:1]={"viewer","member"}'::text[])[s1.state]
                      and r.entity_id = s1.id
                      and r.entity_type = ('[0:1]={"folder","group"}'::text[])[s1.state]
                      and r.subject_type = 'user'
                      and r.subject_relation = ''
                      and r.subject_id = found.id
                    ) d
                    offset 0
                  ) then case when s1.sure and scale(s1.level) <= $2::int then 2 else 1 end else 0 end as v, false as is_end
                  from search1 s1
                  union all
                  select 0, true
                ) f window w as (rows between unbounded preceding and 1 preceding)
              ) r
              where r.is_end or r.seen & 2 <> 0
              limit 1
            ) x
          ) end
        ) as v
        from found
        offset 0
      ) j
      where j.v > 0
      limit $5::int
    ) a
  ) a
) a
where t.id = $6::text
