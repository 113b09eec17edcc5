-- $1: context_by_entity
-- $2: context_by_subject
-- $3: id
-- $4: depth
-- $5: after
-- $6: candidates
-- $7: answers
-- $8: tenant

select t.head_version, case when current_setting('transaction_read_only') = 'on' then settled_state(t.number, t.created_xid) else pg_current_snapshot()::text end as snapshot, greatest(t.created_xid, (
  select d.xid
  from durable_xid d
))::text as durable, current_timeline() as timeline, a.*
from tenants t
cross join (
  select $1::text::jsonb as by_entity, $2::text::jsonb as by_subject
  offset 0
) context
cross join lateral (
  with recursive reach(state, id, level, sure) as (
    select 0, $3::text collate "C" collate "C", 0::numeric, true
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
      select 0 as state, r.subject_id as id, false as sure
      from (
        select ('[0:0]={"folder"}'::text[])[reach.state] collate "C" as entity_type, reach.id collate "C" as entity_id, 'parent' collate "C" as relation, 'folder' collate "C" as subject_type, substr(x.other, strpos(x.other, ':') + 1) collate "C" as subject_id, split_part(split_part(x.other, ':', 1), '#', 2) collate "C" as subject_relation
        from jsonb_array_elements_text(context.by_entity -> (('[0:0]={"folder"}'::text[])[reach.state] || ':' || reach.id || '#' || 'parent')) x(other)
        where x.other collate "C" >= ''
        and x.other collate "C" <= '~'
        and starts_with(x.other, 'folder' || '#')
      ) r
      where r.relation = 'parent'
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
      union all
      select 1 as state, r.subject_id as id, true as sure
      from (
        select ('[0:1]={"folder","group"}'::text[])[reach.state] collate "C" as entity_type, reach.id collate "C" as entity_id, ('[0:1]={"viewer","member"}'::text[])[reach.state] collate "C" as relation, 'group' collate "C" as subject_type, substr(x.other, strpos(x.other, ':') + 1) collate "C" as subject_id, 'member' collate "C" as subject_relation
        from jsonb_array_elements_text(context.by_entity -> (('[0:1]={"folder","group"}'::text[])[reach.state] || ':' || reach.id || '#' || ('[0:1]={"viewer","member"}'::text[])[reach.state])) x(other)
        where x.other collate "C" >= ''
        and x.other collate "C" <= '~'
        and starts_with(x.other, 'group' || '#' || 'member' || ':')
      ) r
      where r.relation = ('[0:1]={"viewer","member"}'::text[])[reach.state]
      and r.entity_id = reach.id
      and r.entity_type = ('[0:1]={"folder","group"}'::text[])[reach.state]
      and r.subject_type = 'group'
      and r.subject_relation = 'member'
    ) n
  ), found as materialized (
    select distinct on (c.id) c.id, c.sure
    from (
      select c.*
      from (
        select c.id, reach.sure
        from (
          select reach.state, reach.id, reach.sure
          and scale(reach.level) <= $4::int as sure
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
            and (r.subject_relation, r.subject_id) > ('', $5::text)
            and r.subject_relation <= '' order by r.subject_relation, r.subject_id
            limit $6::int
          )
          union all (
            select r.subject_id as id
            from (
              select ('[0:1]={"folder","group"}'::text[])[reach.state] collate "C" as entity_type, reach.id collate "C" as entity_id, ('[0:1]={"viewer","member"}'::text[])[reach.state] collate "C" as relation, 'user' collate "C" as subject_type, substr(x.other, strpos(x.other, ':') + 1) collate "C" as subject_id, '' collate "C" as subject_relation
              from jsonb_array_elements_text(context.by_entity -> (('[0:1]={"folder","group"}'::text[])[reach.state] || ':' || reach.id || '#' || ('[0:1]={"viewer","member"}'::text[])[reach.state])) x(other)
              where x.other collate "C" >= ''
              and x.other collate "C" <= '~'
              and starts_with(x.other, 'user' || '#' || '' || ':')
            ) r
            where r.relation = ('[0:1]={"viewer","member"}'::text[])[reach.state]
            and r.entity_id = reach.id
            and r.entity_type = ('[0:1]={"folder","group"}'::text[])[reach.state]
            and r.subject_type = 'user'
            and (r.subject_relation, r.subject_id) > ('', $5::text)
            and r.subject_relation <= '' order by r.subject_relation, r.subject_id
            limit $6::int
          )
        ) c
      ) c(id, sure)
    ) c order by c.id, c.sure desc
    limit $6::int
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
              union all
              select 0, r.entity_id, 0::numeric
              from (
                select 'group' collate "C" as entity_type, substr(x.other, strpos(x.other, ':') + 1) collate "C" as entity_id, 'member' collate "C" as relation, 'user' collate "C" as subject_type, found.id collate "C" as subject_id, '' collate "C" as subject_relation
                from jsonb_array_elements_text(context.by_subject -> ('user' || ':' || found.id || '#' || '')) x(other)
                where x.other collate "C" >= ''
                and x.other collate "C" <= '~'
                and starts_with(x.other, 'group' || '#' || 'member' || ':')
              ) r
              where r.subject_id = found.id
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
              union all
              select 0 as userset, r.entity_id as id
              from (
                select 'group' collate "C" as entity_type, substr(x.other, strpos(x.other, ':') + 1) collate "C" as entity_id, 'member' collate "C" as relation, 'group' collate "C" as subject_type, c.id collate "C" as subject_id, 'member' collate "C" as subject_relation
                from jsonb_array_elements_text(context.by_subject -> ('group' || ':' || c.id || '#' || 'member')) x(other)
                where x.other collate "C" >= ''
                and x.other collate "C" <= '~'
                and starts_with(x.other, 'group' || '#' || 'member' || ':')
              ) r
              where r.subject_id = c.id
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
              union all
              select 0, r.entity_id, 0::numeric
              from (
                select 'group' collate "C" as entity_type, substr(x.other, strpos(x.other, ':') + 1) collate "C" as entity_id, 'member' collate "C" as relation, 'user' collate "C" as subject_type, found.id collate "C" as subject_id, '' collate "C" as subject_relation
                from jsonb_array_elements_text(context.by_subject -> ('user' || ':' || found.id || '#' || '')) x(other)
                where x.other collate "C" >= ''
                and x.other collate "C" <= '~'
                and starts_with(x.other, 'group' || '#' || 'member' || ':')
              ) r
              where r.subject_id = found.id
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
          select case when found.sure then 2 - case when (exists (
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
              union all
              select 1
              from (
                select 'folder' collate "C" as entity_type, $3::text collate "C" collate "C" as entity_id, 'banned' collate "C" as relation, 'group' collate "C" as subject_type, substr(x.other, strpos(x.other, ':') + 1) collate "C" as subject_id, 'member' collate "C" as subject_relation
                from jsonb_array_elements_text(context.by_entity -> ('folder' || ':' || $3::text collate "C" || '#' || 'banned')) x(other)
                where x.other collate "C" >= ''
                and x.other collate "C" <= '~'
                and starts_with(x.other, 'group' || '#' || 'member' || ':')
              ) r
              where r.relation = 'banned'
              and r.entity_id = $3::text collate "C"
              and r.entity_type = 'folder'
              and r.subject_type = 'group'
              and r.subject_relation = 'member'
            ) e
            offset 0
          )) then (
            with recursive search0(state, id, level) as (
              (
                select 2, $3::text collate "C" collate "C", 0::numeric
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
                union all
                select case when (
                  select c.v
                  from cut_off c
                ) then 1 else 3 end as state, r.subject_id as id
                from (
                  select ('[0:2]={null,"group","folder"}'::text[])[s0.state] collate "C" as entity_type, s0.id collate "C" as entity_id, ('[0:2]={null,"member","banned"}'::text[])[s0.state] collate "C" as relation, 'group' collate "C" as subject_type, substr(x.other, strpos(x.other, ':') + 1) collate "C" as subject_id, 'member' collate "C" as subject_relation
                  from jsonb_array_elements_text(context.by_entity -> (('[0:2]={null,"group","folder"}'::text[])[s0.state] || ':' || s0.id || '#' || ('[0:2]={null,"member","banned"}'::text[])[s0.state])) x(other)
                  where x.other collate "C" >= ''
                  and x.other collate "C" <= '~'
                  and starts_with(x.other, 'group' || '#' || 'member' || ':')
                ) r
                where r.relation = ('[0:2]={null,"member","banned"}'::text[])[s0.state]
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
                    and r.relation = ('[0:2]={null,"member","banned"}'::text[])[s0.state]
                    and r.entity_id = s0.id
                    and r.entity_type = ('[0:2]={null,"group","folder"}'::text[])[s0.state]
                    and r.subject_type = 'user'
                    and r.subject_relation = ''
                    and r.subject_id = found.id
                    union all
                    select 1
                    from (
                      select ('[0:2]={null,"group","folder"}'::text[])[s0.state] collate "C" as entity_type, s0.id collate "C" as entity_id, ('[0:2]={null,"member","banned"}'::text[])[s0.state] collate "C" as relation, 'user' collate "C" as subject_type, found.id collate "C" as subject_id, '' collate "C" as subject_relation
                      where (context.by_entity -> (('[0:2]={null,"group","folder"}'::text[])[s0.state] || ':' || s0.id || '#' || ('[0:2]={null,"member","banned"}'::text[])[s0.state])) ? ('user' || '#' || '' || ':' || found.id)
                    ) r
                    where r.relation = ('[0:2]={null,"member","banned"}'::text[])[s0.state]
                    and r.entity_id = s0.id
                    and r.entity_type = ('[0:2]={null,"group","folder"}'::text[])[s0.state]
                    and r.subject_type = 'user'
                    and r.subject_relation = ''
                    and r.subject_id = found.id
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
          ) when (exists (
            select 1
            from (
              select 1
              from relationships r
              where r.tenant = t.number
              and r.relation = 'banned'
              and r.entity_id = $3::text collate "C"
              and r.entity_type = 'folder'
              and r.subject_type = 'user'
              and r.subject_relation = ''
              and r.subject_id = found.id
              union all
              select 1
              from (
                select 'folder' collate "C" as entity_type, $3::text collate "C" collate "C" as entity_id, 'banned' collate "C" as relation, 'user' collate "C" as subject_type, found.id collate "C" as subject_id, '' collate "C" as subject_relation
                where (context.by_entity -> ('folder' || ':' || $3::text collate "C" || '#' || 'banned')) ? ('user' || '#' || '' || ':' || found.id)
              ) r
              where r.relation = 'banned'
              and r.entity_id = $3::text collate "C"
              and r.entity_type = 'folder'
              and r.subject_type = 'user'
              and r.subject_relation = ''
              and r.subject_id = found.id
            ) d
            offset 0
          )) then 2 else 0 end else (
            select x.v
            from (
              with recursive search1(state, id, level, sure) as (
                (
                  select 0, $3::text collate "C" collate "C", 0::numeric, g.v = 2
                  from (
                    select 2 - (
                      with recursive search2(state, id, level) as (
                        (
                          select 2, $3::text collate "C" collate "C", 0::numeric
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
                          union all
                          select case when (
                            select c.v
                            from cut_off c
                          ) then 1 else 3 end as state, r.subject_id as id
                          from (
                            select ('[0:2]={null,"group","folder"}'::text[])[s2.state] collate "C" as entity_type, s2.id collate "C" as entity_id, ('[0:2]={null,"member","banned"}'::text[])[s2.state] collate "C" as relation, 'group' collate "C" as subject_type, substr(x.other, strpos(x.other, ':') + 1) collate "C" as subject_id, 'member' collate "C" as subject_relation
                            from jsonb_array_elements_text(context.by_entity -> (('[0:2]={null,"group","folder"}'::text[])[s2.state] || ':' || s2.id || '#' || ('[0:2]={null,"member","banned"}'::text[])[s2.state])) x(other)
                            where x.other collate "C" >= ''
                            and x.other collate "C" <= '~'
                            and starts_with(x.other, 'group' || '#' || 'member' || ':')
                          ) r
                          where r.relation = ('[0:2]={null,"member","banned"}'::text[])[s2.state]
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
                              and r.subject_id = found.id
                              union all
                              select 1
                              from (
                                select ('[0:2]={null,"group","folder"}'::text[])[s2.state] collate "C" as entity_type, s2.id collate "C" as entity_id, ('[0:2]={null,"member","banned"}'::text[])[s2.state] collate "C" as relation, 'user' collate "C" as subject_type, found.id collate "C" as subject_id, '' collate "C" as subject_relation
                                where (context.by_entity -> (('[0:2]={null,"group","folder"}'::text[])[s2.state] || ':' || s2.id || '#' || ('[0:2]={null,"member","banned"}'::text[])[s2.state])) ? ('user' || '#' || '' || ':' || found.id)
                              ) r
                              where r.relation = ('[0:2]={null,"member","banned"}'::text[])[s2.state]
                              and r.entity_id = s2.id
                              and r.entity_type = ('[0:2]={null,"group","folder"}'::text[])[s2.state]
                              and r.subject_type = 'user'
                              and r.subject_relation = ''
                              and r.subject_id = found.id
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
                  select 0 as state, r.subject_id as id, true as sure
                  from (
                    select ('[0:0]={"folder"}'::text[])[s1.state] collate "C" as entity_type, s1.id collate "C" as entity_id, 'parent' collate "C" as relation, 'folder' collate "C" as subject_type, substr(x.other, strpos(x.other, ':') + 1) collate "C" as subject_id, split_part(split_part(x.other, ':', 1), '#', 2) collate "C" as subject_relation
                    from jsonb_array_elements_text(context.by_entity -> (('[0:0]={"folder"}'::text[])[s1.state] || ':' || s1.id || '#' || 'parent')) x(other)
                    where x.other collate "C" >= ''
                    and x.other collate "C" <= '~'
                    and starts_with(x.other, 'folder' || '#')
                  ) r
                  where r.relation = 'parent'
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
                  union all
                  select case when (
                    select c.v
                    from cut_off c
                  ) then 1 else 3 end as state, r.subject_id as id, true as sure
                  from (
                    select ('[0:1]={"folder","group"}'::text[])[s1.state] collate "C" as entity_type, s1.id collate "C" as entity_id, ('[0:1]={"viewer","member"}'::text[])[s1.state] collate "C" as relation, 'group' collate "C" as subject_type, substr(x.other, strpos(x.other, ':') + 1) collate "C" as subject_id, 'member' collate "C" as subject_relation
                    from jsonb_array_elements_text(context.by_entity -> (('[0:1]={"folder","group"}'::text[])[s1.state] || ':' || s1.id || '#' || ('[0:1]={"viewer","member"}'::text[])[s1.state])) x(other)
                    where x.other collate "C" >= ''
                    and x.other collate "C" <= '~'
                    and starts_with(x.other, 'group' || '#' || 'member' || ':')
                  ) r
                  where r.relation = ('[0:1]={"viewer","member"}'::text[])[s1.state]
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
                        union all
                        select case when (
                          select c.v
                          from cut_off c
                        ) then 1 else 3 end as state, r.subject_id as id
                        from (
                          select ('[0:2]={null,"group","folder"}'::text[])[s3.state] collate "C" as entity_type, s3.id collate "C" as entity_id, ('[0:2]={null,"member","banned"}'::text[])[s3.state] collate "C" as relation, 'group' collate "C" as subject_type, substr(x.other, strpos(x.other, ':') + 1) collate "C" as subject_id, 'member' collate "C" as subject_relation
                          from jsonb_array_elements_text(context.by_entity -> (('[0:2]={null,"group","folder"}'::text[])[s3.state] || ':' || s3.id || '#' || ('[0:2]={null,"member","banned"}'::text[])[s3.state])) x(other)
                          where x.other collate "C" >= ''
                          and x.other collate "C" <= '~'
                          and starts_with(x.other, 'group' || '#' || 'member' || ':')
                        ) r
                        where r.relation = ('[0:2]={null,"member","banned"}'::text[])[s3.state]
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
                          select case when scale(s3.level) + scale(c.level) <= $4::int then 2 else 1 end
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
                            union all
                            select 1
                            from (
                              select ('[0:2]={null,"group","folder"}'::text[])[s3.state] collate "C" as entity_type, s3.id collate "C" as entity_id, ('[0:2]={null,"member","banned"}'::text[])[s3.state] collate "C" as relation, 'user' collate "C" as subject_type, found.id collate "C" as subject_id, '' collate "C" as subject_relation
                              where (context.by_entity -> (('[0:2]={null,"group","folder"}'::text[])[s3.state] || ':' || s3.id || '#' || ('[0:2]={null,"member","banned"}'::text[])[s3.state])) ? ('user' || '#' || '' || ':' || found.id)
                            ) r
                            where r.relation = ('[0:2]={null,"member","banned"}'::text[])[s3.state]
                            and r.entity_id = s3.id
                            and r.entity_type = ('[0:2]={null,"group","folder"}'::text[])[s3.state]
                            and r.subject_type = 'user'
                            and r.subject_relation = ''
                            and r.subject_id = found.id
                          ) d
                          offset 0
                        ) then case when scale(s3.level) <= $4::int then 2 else 1 end else 0 end as v, false as is_end
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
                    select case when s1.sure and scale(s1.level) + scale(c.level) <= $4::int then 2 else 1 end
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
                      union all
                      select 1
                      from (
                        select ('[0:1]={"folder","group"}'::text[])[s1.state] collate "C" as entity_type, s1.id collate "C" as entity_id, ('[0:1]={"viewer","member"}'::text[])[s1.state] collate "C" as relation, 'user' collate "C" as subject_type, found.id collate "C" as subject_id, '' collate "C" as subject_relation
                        where (context.by_entity -> (('[0:1]={"folder","group"}'::text[])[s1.state] || ':' || s1.id || '#' || ('[0:1]={"viewer","member"}'::text[])[s1.state])) ? ('user' || '#' || '' || ':' || found.id)
                      ) r
                      where r.relation = ('[0:1]={"viewer","member"}'::text[])[s1.state]
                      and r.entity_id = s1.id
                      and r.entity_type = ('[0:1]={"folder","group"}'::text[])[s1.state]
                      and r.subject_type = 'user'
                      and r.subject_relation = ''
                      and r.subject_id = found.id
                    ) d
                    offset 0
                  ) then case when s1.sure and scale(s1.level) <= $4::int then 2 else 1 end else 0 end as v, false as is_end
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
      limit $7::int
    ) a
  ) a
) a
where t.id = $8::text
