-- $1: snapshot
-- $2: snapshot_change
-- $3: snapshot_timeline
-- $4: snapshot_taken_before
-- $5: snapshot_last
-- $6: item_0
-- $7: subject_0
-- $8: id_0
-- $9: depth
-- $10: tenant

select t.head_version, p.is_future, p.is_lost, p.is_expired, p.is_before_tenant, p.is_partial, a.item, a.verdict, a.nodes, null::text as facts
from tenants t
cross join lateral (
  select pg_snapshot_xmax($1::pg_snapshot) > case when current_setting('transaction_read_only') = 'on' then pg_snapshot_xmin(pg_current_snapshot()) else pg_snapshot_xmax(pg_current_snapshot()) end or not pg_visible_in_snapshot($2::xid8, pg_current_snapshot()) as is_future, $3::int <> current_timeline()
  and is_lost(t.number, $3::int, $2::xid8, $4::xid8) as is_lost, pg_snapshot_xmin($1::pg_snapshot) < (
    select i.horizon
    from installation i
  ) as is_expired, not pg_visible_in_snapshot(t.created_xid, $1::pg_snapshot) as is_before_tenant, $5::text <> ''
  and is_logged_otherwise(t.number, $2::xid8, $5::text) as is_partial, (exists (
    select 1
    from changes l
    where l.tenant = t.number
    and l.xid >= pg_snapshot_xmax($1::pg_snapshot)
  ) or exists (
    select 1
    from pg_snapshot_xip($1::pg_snapshot) x(xid)
    cross join lateral (
      select 1
      from changes l
      where l.tenant = t.number
      and l.xid = x.xid
      limit 1
    ) l
  )) as changed
  offset 0
) p
cross join lateral (
  select $6::int as item, c.v as verdict, c.n as nodes, c.facts
  from (
    with recursive closure(userset, id, level) as (
      (
        select 0, r.entity_id, 0::numeric
        from relationships r
        where r.tenant = t.number
        and r.subject_id = $7::text collate "C"
        and r.subject_type = 'user'
        and r.subject_relation = ''
        and r.entity_type = 'group'
        and r.relation = 'member'
        and pg_visible_in_snapshot(r.created_xid, $1::pg_snapshot)
        union all
        select 0, r.entity_id, 0::numeric
        from changes r
        where p.changed
        and (r.tenant + 0) = t.number
        and r.operation = 'delete'
        and r.subject_id = $7::text collate "C"
        and r.subject_type = 'user'
        and r.subject_relation = ''
        and r.entity_type = 'group'
        and r.relation = 'member'
        and pg_visible_in_snapshot(r.created_xid, $1::pg_snapshot)
        and not pg_visible_in_snapshot(r.xid, $1::pg_snapshot)
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
        and pg_visible_in_snapshot(r.created_xid, $1::pg_snapshot)
        union all
        select 0 as userset, r.entity_id as id
        from changes r
        where p.changed
        and (r.tenant + 0) = t.number
        and r.operation = 'delete'
        and r.subject_id = c.id
        and r.subject_type = 'group'
        and r.subject_relation = 'member'
        and r.entity_type = 'group'
        and r.relation = 'member'
        and pg_visible_in_snapshot(r.created_xid, $1::pg_snapshot)
        and not pg_visible_in_snapshot(r.xid, $1::pg_snapshot)
        offset 0
      ) p
    ), cut_off as materialized (
      select exists (
        select 0, r.entity_id, 0::numeric
        from relationships r
        where r.tenant = t.number
        and r.subject_id = $7::text collate "C"
        and r.subject_type = 'user'
        and r.subject_relation = ''
        and r.entity_type = 'group'
        and r.relation = 'member'
        and pg_visible_in_snapshot(r.created_xid, $1::pg_snapshot)
        union all
        select 0, r.entity_id, 0::numeric
        from changes r
        where p.changed
        and (r.tenant + 0) = t.number
        and r.operation = 'delete'
        and r.subject_id = $7::text collate "C"
        and r.subject_type = 'user'
        and r.subject_relation = ''
        and r.entity_type = 'group'
        and r.relation = 'member'
        and pg_visible_in_snapshot(r.created_xid, $1::pg_snapshot)
        and not pg_visible_in_snapshot(r.xid, $1::pg_snapshot)
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
          select 0, $8::text collate "C" collate "C", 0::numeric, g.v = 2
          from (
            select 2 - (
              with recursive search1(state, id, level) as (
                (
                  select 2, $8::text collate "C" collate "C", 0::numeric
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
                  and pg_visible_in_snapshot(r.created_xid, $1::pg_snapshot)
                  union all
                  select case when (
                    select c.v
                    from cut_off c
                  ) then 1 else 3 end as state, r.subject_id as id
                  from changes r
                  where p.changed
                  and (r.tenant + 0) = t.number
                  and r.operation = 'delete'
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
                  and pg_visible_in_snapshot(r.created_xid, $1::pg_snapshot)
                  and not pg_visible_in_snapshot(r.xid, $1::pg_snapshot)
                  offset 0
                ) n1
              )
              select least(r.seen & 3, 2)
              from (
                select f.is_end, coalesce(bit_or(f.v) over w, 0) | f.v as seen, row_number() over w as n
                from (
                  select case when s1.state >= 3 then (
                    select case when scale(s1.level) + scale(c.level) <= $9::int then 2 else 1 end
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
                      and r.subject_id = $7::text collate "C"
                      and pg_visible_in_snapshot(r.created_xid, $1::pg_snapshot)
                      union all
                      select 1
                      from changes r
                      where p.changed
                      and (r.tenant + 0) = t.number
                      and r.operation = 'delete'
                      and r.relation = ('[0:2]={null,"member","banned"}'::text[])[s1.state]
                      and r.entity_id = s1.id
                      and r.entity_type = ('[0:2]={null,"group","folder"}'::text[])[s1.state]
                      and r.subject_type = 'user'
                      and r.subject_relation = ''
                      and r.subject_id = $7::text collate "C"
                      and pg_visible_in_snapshot(r.created_xid, $1::pg_snapshot)
                      and not pg_visible_in_snapshot(r.xid, $1::pg_snapshot)
                    ) d
                    offset 0
                  ) then case when scale(s1.level) <= $9::int then 2 else 1 end else 0 end as v, false as is_end
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
          and pg_visible_in_snapshot(r.created_xid, $1::pg_snapshot)
          union all
          select 0 as state, r.subject_id as id, true as sure
          from changes r
          where p.changed
          and (r.tenant + 0) = t.number
          and r.operation = 'delete'
          and r.relation = 'parent'
          and r.entity_id = s0.id
          and r.entity_type = ('[0:0]={"folder"}'::text[])[s0.state]
          and r.subject_type = 'folder'
          and pg_visible_in_snapshot(r.created_xid, $1::pg_snapshot)
          and not pg_visible_in_snapshot(r.xid, $1::pg_snapshot)
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
          and pg_visible_in_snapshot(r.created_xid, $1::pg_snapshot)
          union all
          select case when (
            select c.v
            from cut_off c
          ) then 1 else 3 end as state, r.subject_id as id, true as sure
          from changes r
          where p.changed
          and (r.tenant + 0) = t.number
          and r.operation = 'delete'
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
          and pg_visible_in_snapshot(r.created_xid, $1::pg_snapshot)
          and not pg_visible_in_snapshot(r.xid, $1::pg_snapshot)
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
                and pg_visible_in_snapshot(r.created_xid, $1::pg_snapshot)
                union all
                select case when (
                  select c.v
                  from cut_off c
                ) then 1 else 3 end as state, r.subject_id as id
                from changes r
                where p.changed
                and (r.tenant + 0) = t.number
                and r.operation = 'delete'
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
                and pg_visible_in_snapshot(r.created_xid, $1::pg_snapshot)
                and not pg_visible_in_snapshot(r.xid, $1::pg_snapshot)
                offset 0
              ) n2
            )
            select least(r.seen & 3, 2)
            from (
              select f.is_end, coalesce(bit_or(f.v) over w, 0) | f.v as seen, row_number() over w as n
              from (
                select case when s2.state >= 3 then (
                  select case when scale(s2.level) + scale(c.level) <= $9::int then 2 else 1 end
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
                    and r.subject_id = $7::text collate "C"
                    and pg_visible_in_snapshot(r.created_xid, $1::pg_snapshot)
                    union all
                    select 1
                    from changes r
                    where p.changed
                    and (r.tenant + 0) = t.number
                    and r.operation = 'delete'
                    and r.relation = ('[0:2]={null,"member","banned"}'::text[])[s2.state]
                    and r.entity_id = s2.id
                    and r.entity_type = ('[0:2]={null,"group","folder"}'::text[])[s2.state]
                    and r.subject_type = 'user'
                    and r.subject_relation = ''
                    and r.subject_id = $7::text collate "C"
                    and pg_visible_in_snapshot(r.created_xid, $1::pg_snapshot)
                    and not pg_visible_in_snapshot(r.xid, $1::pg_snapshot)
                  ) d
                  offset 0
                ) then case when scale(s2.level) <= $9::int then 2 else 1 end else 0 end as v, false as is_end
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
            select case when s0.sure and scale(s0.level) + scale(c.level) <= $9::int then 2 else 1 end
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
              and r.subject_id = $7::text collate "C"
              and pg_visible_in_snapshot(r.created_xid, $1::pg_snapshot)
              union all
              select 1
              from changes r
              where p.changed
              and (r.tenant + 0) = t.number
              and r.operation = 'delete'
              and r.relation = ('[0:1]={"viewer","member"}'::text[])[s0.state]
              and r.entity_id = s0.id
              and r.entity_type = ('[0:1]={"folder","group"}'::text[])[s0.state]
              and r.subject_type = 'user'
              and r.subject_relation = ''
              and r.subject_id = $7::text collate "C"
              and pg_visible_in_snapshot(r.created_xid, $1::pg_snapshot)
              and not pg_visible_in_snapshot(r.xid, $1::pg_snapshot)
            ) d
            offset 0
          ) then case when s0.sure and scale(s0.level) <= $9::int then 2 else 1 end else 0 end as v, false as is_end
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
where t.id = $10::text
