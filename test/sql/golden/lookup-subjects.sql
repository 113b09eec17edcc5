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
      select 0 as state, r.subject_id as id, true as sure
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
          select p.id
          from unnest(case reach.state when 0 then array['viewer', 'owner'] when 1 then array['member'] end) o(name)
          cross join lateral (
            select q.id
            from (
              (
                select r.subject_id as id
                from relationships r
                where r.tenant = t.number
                and r.relation = o.name collate "C"
                and r.entity_id = reach.id
                and r.entity_type = ('[0:1]={"folder","group"}'::text[])[reach.state]
                and r.subject_type = 'user'
                and (r.subject_relation, r.subject_id) > ('', $3::text)
                and r.subject_relation <= '' order by r.subject_relation, r.subject_id
                limit $4::int
              )
            ) q
            offset 0
          ) p
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
        select found.id, least(2, case when found.sure then 2 else 1 end) as v
        from found
        offset 0
      ) j
      where j.v > 0
      limit $5::int
    ) a
  ) a
) a
where t.id = $6::text
