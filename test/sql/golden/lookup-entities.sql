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
  ), found as materialized (
    select c.id, bool_or(c.sure and scale(c.level) <= $2::int) as sure
    from (
      select c.*
      from (
        (
          select back.id, back.sure, round(back.level, scale(back.level) - 1)
          from back
          where back.state = 0
          and back.id > $3::text order by back.id
          limit 2 * $4::int
        )
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
