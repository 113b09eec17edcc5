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
  ), open as materialized (
    select o.sure
    from (
      select reach.sure
      and scale(reach.level) <= $2::int
      and v.v = 2 as sure
      from reach
      cross join lateral (
        select case when reach.state = 0 then coalesce(
          (
            select case when a.value_type <> 'boolean' then 1 when a.value = 'true'::jsonb then 2 else 0 end
            from (
              select r.value_type, r.value
              from attributes r
              where r.tenant = t.number
              and r.entity_id = reach.id
              and r.attribute = 'open'
              and r.entity_type = 'folder'
            ) a
          ), 0
        ) else 0 end as v
        offset 0
      ) v
      where v.v > 0
    ) o order by o.sure desc
    limit 1
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
            and r.relation = 'owner'
            and r.entity_id = reach.id
            and r.entity_type = 'folder'
            and r.subject_type = 'user'
            and (r.subject_relation, r.subject_id) > ('', $3::text)
            and r.subject_relation <= '' order by r.subject_relation, r.subject_id
            limit $4::int
          )
        ) c
        union all
        select c.id collate "C", o.sure
        from open o
        cross join lateral (
          (
            select distinct r.entity_id as id
            from relationships r
            where r.tenant = t.number
            and r.entity_type = 'user'
            and r.entity_id > $3::text order by r.entity_id
            limit $4::int
          )
          union all (
            select distinct r.subject_id as id
            from relationships r
            where r.tenant = t.number
            and r.subject_type = 'user'
            and r.subject_id > $3::text order by r.subject_id
            limit $4::int
          )
          union all (
            select distinct r.entity_id as id
            from attributes r
            where r.tenant = t.number
            and r.entity_type = 'user'
            and r.entity_id > $3::text order by r.entity_id
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
  select s.candidates, s.last, a.*
  from span s
  cross join (
    select string_agg(a.id, ' ') as answers, string_agg(a.id, ' ') filter (where a.v = 1) as unknown
    from (
      select j.id, j.v
      from (
        select found.id, ( select case when found.sure then 2 else (
          select x.v
          from (
            select case when exists (
              select 1
              from (
                select 1
                from relationships r
                where r.tenant = t.number
                and r.relation = 'owner'
                and r.entity_id = $1::text collate "C"
                and r.entity_type = 'folder'
                and r.subject_type = 'user'
                and r.subject_relation = ''
                and r.subject_id = found.id
              ) d
              offset 0
            ) then 2 else coalesce(
              (
                select case when a.value_type <> 'boolean' then 1 when a.value = 'true'::jsonb then 2 else 0 end
                from (
                  select r.value_type, r.value
                  from attributes r
                  where r.tenant = t.number
                  and r.entity_id = $1::text collate "C"
                  and r.attribute = 'open'
                  and r.entity_type = 'folder'
                ) a
              ), 0
            ) end as v, 1::bigint as n
          ) x
        ) end) as v
        from found
        offset 0
      ) j
      where j.v > 0
      limit $5::int
    ) a
  ) a
) a
where t.id = $6::text
