-- $1: id
-- $2: depth
-- $3: after
-- $4: candidates
-- $5: data
-- $6: answers
-- $7: tenant

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
          and r.subject_type = ('[0:2]={null,"group","user"}'::text[])[back.state]
          and (r.subject_relation, r.entity_type, r.relation) >= (('[0:2]={null,"member",""}'::text[])[back.state], ('[0:2]={null,"group","group"}'::text[])[back.state], ('[0:2]={null,"member","member"}'::text[])[back.state])
          and (r.subject_relation, r.entity_type, r.relation) <= (('[0:2]={null,"member",""}'::text[])[back.state], ('[0:2]={null,"group","group"}'::text[])[back.state], ('[0:2]={null,"member","member"}'::text[])[back.state])
        ) q
        offset 0
      ) p
      cross join lateral (
        select 1 as state, true as sure
      ) s
      offset 0
    ) n
  ), found as materialized (
    select c.id, bool_or(c.sure and scale(c.level) <= $2::int) as sure
    from (
      select c.*
      from (
        select c.id collate "C", false, 0::numeric
        from (
          (
            select distinct r.entity_id as id
            from relationships r
            where r.tenant = t.number
            and r.entity_type = 'folder'
            and r.entity_id > $3::text order by r.entity_id
            limit $4::int
          )
          union all (
            select distinct r.subject_id as id
            from relationships r
            where r.tenant = t.number
            and r.subject_type = 'folder'
            and r.subject_id > $3::text order by r.subject_id
            limit $4::int
          )
          union all (
            select distinct r.entity_id as id
            from attributes r
            where r.tenant = t.number
            and r.entity_type = 'folder'
            and r.entity_id > $3::text order by r.entity_id
            limit $4::int
          )
        ) c
        union all
        select p.id, back.sure
        and true as sure, back.level
        from back
        cross join lateral (
          (
            select r.entity_id as id
            from relationships r
            where r.tenant = t.number
            and r.subject_id = back.id
            and r.subject_type = ('[0:2]={null,"group","user"}'::text[])[back.state]
            and r.subject_relation = ('[0:2]={null,"member",""}'::text[])[back.state]
            and r.entity_type = 'folder'
            and (r.relation, r.entity_id) > ('viewer', $3::text)
            and r.relation <= 'viewer' order by r.relation, r.entity_id
            limit $4::int
          )
        ) p
        where back.state in (2, 1)
      ) c(id, sure, level)
    ) c group by c.id order by c.id
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
        select found.id, case when found.sure then 2 else (
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
                offset 0
              ) n0
            )
            select least(r.seen & 3, 2) as v, r.n - r.is_end::int as n
            from (
              select f.is_end, coalesce(bit_or(f.v) over w, 0) | f.v as seen, row_number() over w as n
              from (
                select case when s0.state >= 2 then (
                  select case when scale(s0.level) + scale(c.level) <= $2::int then 2 else 1 end
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
                ) then case when scale(s0.level) <= $2::int then 2 else 1 end else least(case when s0.state = 0 then (
                  select case when v1.fit then case ((v1.p0 < '10'::bigint)) when true then 2 when false then 0 else 1 end else 1 end
                  from (
                    select $5::text::jsonb as data, case when p1_0.value_type = 'integer' then coalesce((p1_0.value #>> '{}')::bigint, 0::bigint) else 0::bigint end as p0, (p1_0.value_type is null or p1_0.value_type = 'integer') as fit
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
                ) else 0 end, case when scale(s0.level) <= $2::int then 2 else 1 end) end as v, false as is_end
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
      limit $6::int
    ) a
  ) a
) a
where t.id = $7::text
