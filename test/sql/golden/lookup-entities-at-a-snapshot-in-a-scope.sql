-- $1: version
-- $2: snapshot
-- $3: snapshot_change
-- $4: snapshot_timeline
-- $5: snapshot_taken_before
-- $6: snapshot_last
-- $7: scope_folder
-- $8: id
-- $9: depth
-- $10: after
-- $11: candidates
-- $12: answers
-- $13: tenant

select t.head_version, exists (
  select 1
  from schemas v
  where v.tenant = t.number
  and v.version = $1::text
) as has_version, p.is_future, p.is_lost, p.is_expired, p.is_before_tenant, p.is_partial, a.*
from tenants t
cross join lateral (
  select pg_snapshot_xmax($2::pg_snapshot) > case when current_setting('transaction_read_only') = 'on' then pg_snapshot_xmin(pg_current_snapshot()) else pg_snapshot_xmax(pg_current_snapshot()) end or not pg_visible_in_snapshot($3::xid8, pg_current_snapshot()) as is_future, $4::int <> current_timeline()
  and is_lost(t.number, $4::int, $3::xid8, $5::xid8) as is_lost, pg_snapshot_xmin($2::pg_snapshot) < (
    select i.horizon
    from installation i
  ) as is_expired, not pg_visible_in_snapshot(t.created_xid, $2::pg_snapshot) as is_before_tenant, $6::text <> ''
  and is_logged_otherwise(t.number, $3::xid8, $6::text) as is_partial, (exists (
    select 1
    from changes l
    where l.tenant = t.number
    and l.xid >= pg_snapshot_xmax($2::pg_snapshot)
  ) or exists (
    select 1
    from pg_snapshot_xip($2::pg_snapshot) x(xid)
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
  with recursive closure(userset, id, level) as materialized (
    select 0, back.id, round(back.level, scale(back.level) - 1)
    from back
    where back.state = 1
  ), cut_off as materialized (
    select false as v
  ), scope0 as materialized (
    select s.id collate "C" as id
    from unnest($7::text[]) s(id)
  ), back(state, id, level, sure) as (
    (
      select 2, $8::text collate "C", 0::numeric, true
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
          and pg_visible_in_snapshot(r.created_xid, $2::pg_snapshot)
          union all
          select r.entity_type, r.relation, r.entity_id as id
          from changes r
          where p.changed
          and (r.tenant + 0) = t.number
          and r.operation = 'delete'
          and r.subject_id = back.id
          and r.subject_type = ('[0:2]={"folder","group","user"}'::text[])[back.state]
          and (r.subject_relation, r.entity_type, r.relation) >= (('[0:2]={"","member",""}'::text[])[back.state], ('[0:2]={"folder","folder","folder"}'::text[])[back.state], ('[0:2]={"parent","viewer","owner"}'::text[])[back.state])
          and (r.subject_relation, r.entity_type, r.relation) <= (('[0:2]={"~","member",""}'::text[])[back.state], ('[0:2]={"","group","group"}'::text[])[back.state], ('[0:2]={"","member","member"}'::text[])[back.state])
          and pg_visible_in_snapshot(r.created_xid, $2::pg_snapshot)
          and not pg_visible_in_snapshot(r.xid, $2::pg_snapshot)
        ) q
        offset 0
      ) p
      cross join lateral (
        select case when back.state in (0) and p.entity_type = 'folder' and p.relation = 'parent' then 0 when back.state in (1, 2) and p.entity_type = 'folder' and p.relation = 'viewer' then 0 when back.state in (1, 2) and p.entity_type = 'group' and p.relation = 'member' then 1 when back.state in (2) and p.entity_type = 'folder' and p.relation = 'owner' then 0 end as state, true as sure
      ) s
      where s.state is not null
      and (p.entity_type <> 'folder' or (p.id in (
        select s.id
        from scope0 s
      )) is true)
      offset 0
    ) n
  ), found as materialized (
    select c.id, bool_or(c.sure and scale(c.level) <= $9::int) as sure
    from (
      select c.*
      from (
        (
          select back.id, back.sure, round(back.level, scale(back.level) - 1)
          from back
          where back.state = 0
          and back.id > $10::text order by back.id
          limit 2 * $11::int
        )
      ) c(id, sure, level)
    ) c group by c.id order by c.id
    limit $11::int
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
      limit $12::int
    ) a
  ) a
) a
where t.id = $13::text
