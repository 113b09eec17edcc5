-- $1: id
-- $2: after
-- $3: depth
-- $4: candidates
-- $5: answers
-- $6: tenant

select t.head_version, case when current_setting('transaction_read_only') = 'on' then settled_state(t.number, t.created_xid) else pg_current_snapshot()::text end as snapshot, greatest(t.created_xid, (
  select d.xid
  from durable_xid d
))::text as durable, current_timeline() as timeline, a.*
from tenants t
cross join lateral (
  with recursive closure(userset, id, level) as materialized (
    select 0, back.id, round(back.level, scale(back.level) - 1)
    from back
    where back.state = 1
  ), cut_off as materialized (
    select false as v
  ), back(state, id, level, sure) as (
    (
      select 2, $1::text collate "C", 0::numeric, true
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
          and (r.subject_relation, r.entity_type, r.relation) >= (('[0:2]={"","member",""}'::text[])[back.state], ('[0:2]={"folder","folder","folder"}'::text[])[back.state], ('[0:2]={"parent","viewer","viewer"}'::text[])[back.state])
          and (r.subject_relation, r.entity_type, r.relation) <= (('[0:2]={"~","member",""}'::text[])[back.state], ('[0:2]={"","group","group"}'::text[])[back.state], ('[0:2]={"","member","member"}'::text[])[back.state])
        ) q
        offset 0
      ) p
      cross join lateral (
        select case when back.state in (0) and p.entity_type = 'folder' and p.relation = 'parent' then 0 when back.state in (1, 2) and p.entity_type = 'folder' and p.relation = 'viewer' then 0 when back.state in (1, 2) and p.entity_type = 'group' and p.relation = 'member' then 1 end as state, case when back.state in (0) and p.entity_type = 'folder' and p.relation = 'parent' then false when back.state in (1, 2) and p.entity_type = 'folder' and p.relation = 'viewer' then true when back.state in (1, 2) and p.entity_type = 'group' and p.relation = 'member' then true end as sure
      ) s
      where s.state is not null
      offset 0
    ) n
  ), accepted2(id, near) as materialized (
    select a.id, a.near
    from span
    cross join lateral (
      select '' collate "C" as id, false as near
      union all
      select d.id, true
      from (
        select r.entity_id as id
        from relationships r
        where r.tenant = t.number
        and r.subject_id = $1::text collate "C"
        and r.subject_type = 'user'
        and r.subject_relation = ''
        and r.entity_type = 'folder'
        and (r.relation, r.entity_id) > ('banned', $2::text)
        and r.relation <= 'banned'
        and (r.relation, r.entity_id) <= ('banned', span.last)
      ) d(id)
      union all
      select p.id, scale(c.level) < $3::int
      from closure c
      cross join lateral (
        select q.id
        from (
          select r.entity_id as id
          from relationships r
          where r.tenant = t.number
          and r.subject_id = c.id
          and r.subject_type = 'group'
          and r.subject_relation = 'member'
          and r.entity_type = 'folder'
          and (r.relation, r.entity_id) > ('banned', $2::text)
          and r.relation <= 'banned'
          and (r.relation, r.entity_id) <= ('banned', span.last)
        ) q
        offset 0
      ) p
      where c.userset = 0
    ) a
    where span.candidates > 1
    and (
      select count(*)
      from closure
    ) <= span.candidates
    limit (
      select span.candidates + 2
      from span
    )
  ), candidates as materialized (
    select c.*
    from (
      (
        select back.id, back.sure, round(back.level, scale(back.level) - 1), case when true then back.state end, back.id
        from back
        where back.state = 0
        and back.id > $2::text order by back.id
        limit 2 * $4::int
      )
    ) c(id, sure, level, state, via)
  ), unsure as materialized (
    select least(2 * coalesce(sum(case when c.sure and scale(c.level) <= $3::int then -1 when c.state is null then 0 else 1 end), 0), $4::int) as most
    from candidates c
  ), inner_entities as materialized (
    select b.state, b.id
    from back b
    where (b.state in (0))
    and (
      select u.most
      from unsure u
    ) > 0 group by b.state, b.id
    limit (
      select greatest(u.most, 0) + 1
      from unsure u
    )
  ), passed as materialized (
    select b.state, b.id
    from inner_entities b
    where (
      select count(*)
      from inner_entities
    ) <= (
      select u.most
      from unsure u
    )
    and least(2 - (
      with recursive search0(state, id, level) as (
        (
          select 2, b.id collate "C", round(0::numeric, ($3::int / 2))
        )
        union
        select n0.state, n0.id, s0.level * 0.0
        from search0 s0
        cross join lateral (
          select case when (
            select c.v
            from cut_off c
          ) then 1 else 3 end as state, r.subject_id as id
          from relationships r
          where r.tenant = t.number
          and r.relation = ('[0:2]={null,"member","banned"}'::text[])[s0.state]
          and r.entity_id = s0.id
          and r.entity_type = ('[0:2]={null,"group","folder"}'::text[])[s0.state]
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
      select least(r.seen & 3, 2)
      from (
        select f.is_end, coalesce(bit_or(f.v) over w, 0) | f.v as seen, row_number() over w as n
        from (
          select case when s0.state >= 3 then (
            select case when scale(s0.level) + scale(c.level) <= $3::int then 2 else 1 end
            from closure c
            where c.id = s0.id
            limit 1
          ) when exists (
            select 1
            from (
              select 1
              from relationships r
              where r.tenant = t.number
              and r.relation = ('[0:2]={null,"member","banned"}'::text[])[s0.state]
              and r.entity_id = s0.id
              and r.entity_type = ('[0:2]={null,"group","folder"}'::text[])[s0.state]
              and r.subject_type = 'user'
              and r.subject_relation = ''
              and r.subject_id = $1::text collate "C"
            ) d
            offset 0
          ) then case when scale(s0.level) <= $3::int then 2 else 1 end else 0 end as v, false as is_end
          from search0 s0
          union all
          select 0, true
        ) f window w as (rows between unbounded preceding and 1 preceding)
      ) r
      where r.is_end or r.seen & 2 <> 0
      limit 1
    ), 2) = 2
  ), sure_back(state, id, level, sure) as (
    (
      select n.*
      from (
        select 2, $1::text collate "C", 0::numeric, true
      ) n(state, id, level, sure)
      where n.sure
      and exists (
        select 1
        from passed
      )
      and (not (n.state in (0)) or (n.state, n.id) in (
        select p.state, p.id
        from passed p
      ))
    )
    union
    select n.state, n.id, back.level * 0.0, back.sure
    and n.sure
    from sure_back back
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
          and (r.subject_relation, r.entity_type, r.relation) >= (('[0:2]={"","member",""}'::text[])[back.state], ('[0:2]={"folder","folder","folder"}'::text[])[back.state], ('[0:2]={"parent","viewer","viewer"}'::text[])[back.state])
          and (r.subject_relation, r.entity_type, r.relation) <= (('[0:2]={"~","member",""}'::text[])[back.state], ('[0:2]={"","group","group"}'::text[])[back.state], ('[0:2]={"","member","member"}'::text[])[back.state])
        ) q
        offset 0
      ) p
      cross join lateral (
        select case when back.state in (0) and p.entity_type = 'folder' and p.relation = 'parent' then 0 when back.state in (1, 2) and p.entity_type = 'folder' and p.relation = 'viewer' then 0 when back.state in (1, 2) and p.entity_type = 'group' and p.relation = 'member' then 1 end as state, true as sure
      ) s
      where s.state is not null
      offset 0
    ) n
    where n.sure
    and exists (
      select 1
      from passed
    )
    and (not (n.state in (0)) or (n.state, n.id) in (
      select p.state, p.id
      from passed p
    ))
  ), found as materialized (
    select c.id, bool_or((c.sure and scale(c.level) <= $3::int) or ((c.state, c.via) in (
      select s.state, s.id
      from sure_back s
      where scale(s.level) <= ($3::int / 2)
    )) is true) as sure
    from candidates c group by c.id order by c.id
    limit $4::int
  ), span as materialized (
    select count(*)::int as candidates, max(found.id) as last
    from found
  )
  select s.candidates, s.last, a.*
  from span s
  cross join (
    select string_agg(a.id, ' ') as answers, string_agg(a.id, ' ') filter (where a.v = 1) as unknown
    from (
      select j.id, j.v
      from (
        select found.id, case when found.sure then 2 - case when (
          select count(*) > 0
          and count(*) <= (
            select span.candidates + 1
            from span
          )
          from accepted2
        ) then case when (found.id in (
          select a.id
          from accepted2 a
          where a.id <> '' 
        )) is true then case when (found.id in (
          select a.id
          from accepted2 a
          where a.id <> ''
          and a.near
        )) is true then 2 else 1 end else 0 end else case when (exists (
          select 1
          from (
            select 1
            from relationships r
            where r.tenant = t.number
            and r.relation = 'banned'
            and r.entity_id = found.id
            and r.entity_type = 'folder'
            and r.subject_type = 'user'
            and r.subject_relation = ''
            and r.subject_id = $1::text collate "C"
          ) d
          offset 0
        )) or (exists (
          select 1
          from (
            select 1
            from relationships r
            where r.tenant = t.number
            and r.relation = 'banned'
            and r.entity_id = found.id
            and r.entity_type = 'folder'
            and r.subject_type = 'group'
            and r.subject_relation = 'member'
            and (r.subject_id in (
              select c.id
              from closure c
              where scale(c.level) < $3::int
            )) is true
          ) e
          offset 0
        )) then 2 when (
          select exists (
            select 1
            from closure c
            where scale(c.level) >= $3::int
          )
        ) and (exists (
          select 1
          from (
            select 1
            from relationships r
            where r.tenant = t.number
            and r.relation = 'banned'
            and r.entity_id = found.id
            and r.entity_type = 'folder'
            and r.subject_type = 'group'
            and r.subject_relation = 'member'
            and (r.subject_id in (
              select c.id
              from closure c
              where scale(c.level) >= $3::int
            )) is true
          ) e
          offset 0
        )) then 1 else 0 end end else (
          select x.v
          from (
            with recursive search0(state, id, level, sure) as (
              (
                select 0, found.id collate "C", 0::numeric, g.v = 2
                from (
                  select 2 - (
                    with recursive search1(state, id, level) as (
                      (
                        select 2, found.id collate "C", 0::numeric
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
                          select case when scale(s1.level) + scale(c.level) <= $3::int then 2 else 1 end
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
                            and r.subject_id = $1::text collate "C"
                          ) d
                          offset 0
                        ) then case when scale(s1.level) <= $3::int then 2 else 1 end else 0 end as v, false as is_end
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
                        select case when scale(s2.level) + scale(c.level) <= $3::int then 2 else 1 end
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
                          and r.subject_id = $1::text collate "C"
                        ) d
                        offset 0
                      ) then case when scale(s2.level) <= $3::int then 2 else 1 end else 0 end as v, false as is_end
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
                  select case when s0.sure and scale(s0.level) + scale(c.level) <= $3::int then 2 else 1 end
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
                    and r.subject_id = $1::text collate "C"
                  ) d
                  offset 0
                ) then case when s0.sure and scale(s0.level) <= $3::int then 2 else 1 end else 0 end as v, false as is_end
                from search0 s0
                union all
                select 0, true
              ) f window w as (rows between unbounded preceding and 1 preceding)
            ) r
            where r.is_end or r.seen & 2 <> 0
            limit 1
          ) x
        ) end as v
        from found
        offset 0
      ) j
      where j.v > 0
      limit $5::int
    ) a
  ) a
) a
where t.id = $6::text
