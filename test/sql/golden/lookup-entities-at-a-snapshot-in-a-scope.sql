-- $1: version
-- $2: snapshot
-- $3: snapshot_timeline
-- $4: snapshot_change
-- $5: snapshot_taken_before
-- $6: id
-- $7: scope_folder
-- $8: depth
-- $9: after
-- $10: candidates
-- $11: answers
-- $12: tenant

select t.head_version, exists (
  select 1
  from schemas v
  where v.tenant = t.number
  and v.version = $1::text
) as has_version, p.is_future, p.is_lost, p.is_expired, p.is_before_tenant, a.*
from tenants t
cross join lateral (
  select pg_snapshot_xmax($2::pg_snapshot) > pg_snapshot_xmax(pg_current_snapshot()) as is_future, $3::int <> current_timeline()
  and is_lost(t.number, $3::int, $4::xid8, $5::xid8) as is_lost, pg_snapshot_xmin($2::pg_snapshot) < (
    select i.horizon
    from installation i
  ) as is_expired, not pg_visible_in_snapshot(t.created_xid, $2::pg_snapshot) as is_before_tenant, (exists (
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
  with recursive closure(userset, id, level) as (
    (
      select 0, r.entity_id, 0::numeric
      from relationships r
      where r.tenant = t.number
      and r.subject_id = $6::text collate "C"
      and r.subject_type = 'user'
      and r.subject_relation = ''
      and r.entity_type = 'group'
      and r.relation = 'member'
      and pg_visible_in_snapshot(r.created_xid, $2::pg_snapshot)
      union all
      select 0, r.entity_id, 0::numeric
      from changes r
      where p.changed
      and (r.tenant + 0) = t.number
      and r.operation = 'delete'
      and r.subject_id = $6::text collate "C"
      and r.subject_type = 'user'
      and r.subject_relation = ''
      and r.entity_type = 'group'
      and r.relation = 'member'
      and pg_visible_in_snapshot(r.created_xid, $2::pg_snapshot)
      and not pg_visible_in_snapshot(r.xid, $2::pg_snapshot)
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
      and pg_visible_in_snapshot(r.created_xid, $2::pg_snapshot)
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
      and pg_visible_in_snapshot(r.created_xid, $2::pg_snapshot)
      and not pg_visible_in_snapshot(r.xid, $2::pg_snapshot)
      offset 0
    ) p
  ), cut_off as materialized (
    select exists (
      select 0, r.entity_id, 0::numeric
      from relationships r
      where r.tenant = t.number
      and r.subject_id = $6::text collate "C"
      and r.subject_type = 'user'
      and r.subject_relation = ''
      and r.entity_type = 'group'
      and r.relation = 'member'
      and pg_visible_in_snapshot(r.created_xid, $2::pg_snapshot)
      union all
      select 0, r.entity_id, 0::numeric
      from changes r
      where p.changed
      and (r.tenant + 0) = t.number
      and r.operation = 'delete'
      and r.subject_id = $6::text collate "C"
      and r.subject_type = 'user'
      and r.subject_relation = ''
      and r.entity_type = 'group'
      and r.relation = 'member'
      and pg_visible_in_snapshot(r.created_xid, $2::pg_snapshot)
      and not pg_visible_in_snapshot(r.xid, $2::pg_snapshot)
      offset 100
    ) or exists (
      select 1
      from closure
      offset 100
    ) as v
  ), scope0 as materialized (
    select s.id collate "C" as id
    from unnest($7::text[]) s(id)
  ), back(state, id, level, sure) as (
    (
      select 0 as state, c.id collate "C" as id, 0::numeric as level, true as sure
      from (
        select p.id
        from unnest(array['viewer', 'owner']) o(name)
        cross join lateral (
          select q.id
          from (
            select r.entity_id as id
            from relationships r
            where r.tenant = t.number
            and r.subject_id = $6::text collate "C"
            and r.subject_type = 'user'
            and r.subject_relation = ''
            and r.entity_type = 'folder'
            and r.relation = o.name collate "C"
            and (r.entity_id in (
              select s.id
              from scope0 s
            )) is true
            and pg_visible_in_snapshot(r.created_xid, $2::pg_snapshot)
            union all
            select r.entity_id as id
            from changes r
            where p.changed
            and (r.tenant + 0) = t.number
            and r.operation = 'delete'
            and r.subject_id = $6::text collate "C"
            and r.subject_type = 'user'
            and r.subject_relation = ''
            and r.entity_type = 'folder'
            and r.relation = o.name collate "C"
            and (r.entity_id in (
              select s.id
              from scope0 s
            )) is true
            and pg_visible_in_snapshot(r.created_xid, $2::pg_snapshot)
            and not pg_visible_in_snapshot(r.xid, $2::pg_snapshot)
          ) q
          offset 0
        ) p
      ) c
      union all
      select 1 as state, c.id collate "C" as id, 0::numeric as level, true as sure
      from (
        select r.entity_id as id
        from relationships r
        where r.tenant = t.number
        and r.subject_id = $6::text collate "C"
        and r.subject_type = 'user'
        and r.subject_relation = ''
        and r.entity_type = 'group'
        and r.relation = 'member'
        and pg_visible_in_snapshot(r.created_xid, $2::pg_snapshot)
        union all
        select r.entity_id as id
        from changes r
        where p.changed
        and (r.tenant + 0) = t.number
        and r.operation = 'delete'
        and r.subject_id = $6::text collate "C"
        and r.subject_type = 'user'
        and r.subject_relation = ''
        and r.entity_type = 'group'
        and r.relation = 'member'
        and pg_visible_in_snapshot(r.created_xid, $2::pg_snapshot)
        and not pg_visible_in_snapshot(r.xid, $2::pg_snapshot)
      ) c
    )
    union
    select n.state, n.id, back.level * 0.0, back.sure
    and n.sure
    from back
    cross join lateral (
      select 0 as state, r.entity_id as id, true as sure
      from relationships r
      where r.tenant = t.number
      and r.relation = 'viewer'
      and back.state = 1
      and r.subject_id = back.id
      and r.subject_type = 'group'
      and r.subject_relation = 'member'
      and r.entity_type = 'folder'
      and true
      and (r.entity_id in (
        select s.id
        from scope0 s
      )) is true
      and pg_visible_in_snapshot(r.created_xid, $2::pg_snapshot)
      union all
      select 0 as state, r.entity_id as id, true as sure
      from changes r
      where p.changed
      and (r.tenant + 0) = t.number
      and r.operation = 'delete'
      and r.relation = 'viewer'
      and back.state = 1
      and r.subject_id = back.id
      and r.subject_type = 'group'
      and r.subject_relation = 'member'
      and r.entity_type = 'folder'
      and true
      and (r.entity_id in (
        select s.id
        from scope0 s
      )) is true
      and pg_visible_in_snapshot(r.created_xid, $2::pg_snapshot)
      and not pg_visible_in_snapshot(r.xid, $2::pg_snapshot)
      union all
      select 0 as state, r.entity_id as id, true as sure
      from relationships r
      where r.tenant = t.number
      and r.relation = 'parent'
      and back.state = 0
      and r.subject_id = back.id
      and r.subject_type = 'folder'
      and r.subject_relation = ''
      and r.entity_type = 'folder'
      and true
      and (r.entity_id in (
        select s.id
        from scope0 s
      )) is true
      and pg_visible_in_snapshot(r.created_xid, $2::pg_snapshot)
      union all
      select 0 as state, r.entity_id as id, true as sure
      from changes r
      where p.changed
      and (r.tenant + 0) = t.number
      and r.operation = 'delete'
      and r.relation = 'parent'
      and back.state = 0
      and r.subject_id = back.id
      and r.subject_type = 'folder'
      and r.subject_relation = ''
      and r.entity_type = 'folder'
      and true
      and (r.entity_id in (
        select s.id
        from scope0 s
      )) is true
      and pg_visible_in_snapshot(r.created_xid, $2::pg_snapshot)
      and not pg_visible_in_snapshot(r.xid, $2::pg_snapshot)
      union all
      select 0 as state, r.entity_id as id, true as sure
      from relationships r
      where r.tenant = t.number
      and r.relation = 'parent'
      and back.state = 0
      and r.subject_id = back.id
      and r.subject_type = 'folder'
      and r.subject_relation > ''
      and r.entity_type = 'folder'
      and true
      and (r.entity_id in (
        select s.id
        from scope0 s
      )) is true
      and pg_visible_in_snapshot(r.created_xid, $2::pg_snapshot)
      union all
      select 0 as state, r.entity_id as id, true as sure
      from changes r
      where p.changed
      and (r.tenant + 0) = t.number
      and r.operation = 'delete'
      and r.relation = 'parent'
      and back.state = 0
      and r.subject_id = back.id
      and r.subject_type = 'folder'
      and r.subject_relation > ''
      and r.entity_type = 'folder'
      and true
      and (r.entity_id in (
        select s.id
        from scope0 s
      )) is true
      and pg_visible_in_snapshot(r.created_xid, $2::pg_snapshot)
      and not pg_visible_in_snapshot(r.xid, $2::pg_snapshot)
      union all
      select 1 as state, r.entity_id as id, true as sure
      from relationships r
      where r.tenant = t.number
      and r.relation = 'member'
      and back.state = 1
      and r.subject_id = back.id
      and r.subject_type = 'group'
      and r.subject_relation = 'member'
      and r.entity_type = 'group'
      and true
      and pg_visible_in_snapshot(r.created_xid, $2::pg_snapshot)
      union all
      select 1 as state, r.entity_id as id, true as sure
      from changes r
      where p.changed
      and (r.tenant + 0) = t.number
      and r.operation = 'delete'
      and r.relation = 'member'
      and back.state = 1
      and r.subject_id = back.id
      and r.subject_type = 'group'
      and r.subject_relation = 'member'
      and r.entity_type = 'group'
      and true
      and pg_visible_in_snapshot(r.created_xid, $2::pg_snapshot)
      and not pg_visible_in_snapshot(r.xid, $2::pg_snapshot)
    ) n
  ), found as materialized (
    select c.id, bool_or(c.sure and scale(c.level) <= $8::int) as sure
    from (
      select c.*
      from (
        select c.id collate "C", true, 0::numeric
        from (
          select p.id
          from unnest(array['viewer', 'owner']) o(name)
          cross join lateral (
            select q.id
            from (
              (
                select r.entity_id as id
                from relationships r
                where r.tenant = t.number
                and r.subject_id = $6::text collate "C"
                and r.subject_type = 'user'
                and r.subject_relation = ''
                and r.entity_type = 'folder'
                and (r.relation, r.entity_id) > (o.name collate "C", $9::text)
                and r.relation <= o.name collate "C"
                and (r.entity_id in (
                  select s.id
                  from scope0 s
                )) is true
                and pg_visible_in_snapshot(r.created_xid, $2::pg_snapshot) order by r.relation, r.entity_id
                limit $10::int
              )
              union all (
                select r.entity_id as id
                from changes r
                where p.changed
                and (r.tenant + 0) = t.number
                and r.operation = 'delete'
                and r.subject_id = $6::text collate "C"
                and r.subject_type = 'user'
                and r.subject_relation = ''
                and r.entity_type = 'folder'
                and (r.relation, r.entity_id) > (o.name collate "C", $9::text)
                and r.relation <= o.name collate "C"
                and (r.entity_id in (
                  select s.id
                  from scope0 s
                )) is true
                and pg_visible_in_snapshot(r.created_xid, $2::pg_snapshot)
                and not pg_visible_in_snapshot(r.xid, $2::pg_snapshot) order by r.relation, r.entity_id
                limit $10::int
              )
            ) q
            offset 0
          ) p
        ) c
        union all
        select p.id, back.sure as sure, back.level * 0.0 as level
        from back
        cross join lateral (
          (
            select r.entity_id as id
            from relationships r
            where r.tenant = t.number
            and r.subject_id = back.id
            and r.subject_type = 'group'
            and r.subject_relation = 'member'
            and r.entity_type = 'folder'
            and (r.relation, r.entity_id) > ('viewer', $9::text)
            and r.relation <= 'viewer'
            and (r.entity_id in (
              select s.id
              from scope0 s
            )) is true
            and pg_visible_in_snapshot(r.created_xid, $2::pg_snapshot) order by r.relation, r.entity_id
            limit $10::int
          )
          union all (
            select r.entity_id as id
            from changes r
            where p.changed
            and (r.tenant + 0) = t.number
            and r.operation = 'delete'
            and r.subject_id = back.id
            and r.subject_type = 'group'
            and r.subject_relation = 'member'
            and r.entity_type = 'folder'
            and (r.relation, r.entity_id) > ('viewer', $9::text)
            and r.relation <= 'viewer'
            and (r.entity_id in (
              select s.id
              from scope0 s
            )) is true
            and pg_visible_in_snapshot(r.created_xid, $2::pg_snapshot)
            and not pg_visible_in_snapshot(r.xid, $2::pg_snapshot) order by r.relation, r.entity_id
            limit $10::int
          )
        ) p
        where back.state = 1
        union all
        select p.id, back.sure as sure, back.level * 0.0 as level
        from back
        cross join lateral (
          (
            select r.entity_id as id
            from relationships r
            where r.tenant = t.number
            and r.subject_id = back.id
            and r.subject_type = 'folder'
            and r.subject_relation = ''
            and r.entity_type = 'folder'
            and (r.relation, r.entity_id) > ('parent', $9::text)
            and r.relation <= 'parent'
            and (r.entity_id in (
              select s.id
              from scope0 s
            )) is true
            and pg_visible_in_snapshot(r.created_xid, $2::pg_snapshot) order by r.relation, r.entity_id
            limit $10::int
          )
          union all (
            select r.entity_id as id
            from changes r
            where p.changed
            and (r.tenant + 0) = t.number
            and r.operation = 'delete'
            and r.subject_id = back.id
            and r.subject_type = 'folder'
            and r.subject_relation = ''
            and r.entity_type = 'folder'
            and (r.relation, r.entity_id) > ('parent', $9::text)
            and r.relation <= 'parent'
            and (r.entity_id in (
              select s.id
              from scope0 s
            )) is true
            and pg_visible_in_snapshot(r.created_xid, $2::pg_snapshot)
            and not pg_visible_in_snapshot(r.xid, $2::pg_snapshot) order by r.relation, r.entity_id
            limit $10::int
          )
        ) p
        where back.state = 0
        union all
        select p.id, back.sure as sure, back.level * 0.0 as level
        from back
        cross join lateral (
          select u.id
          from (
            select r.entity_id as id
            from relationships r
            where r.tenant = t.number
            and r.subject_id = back.id
            and r.subject_type = 'folder'
            and r.subject_relation > ''
            and r.entity_type = 'folder'
            and r.relation = 'parent'
            and coalesce(r.entity_id, '') > $9::text
            and (r.entity_id in (
              select s.id
              from scope0 s
            )) is true
            and pg_visible_in_snapshot(r.created_xid, $2::pg_snapshot)
            union all
            select r.entity_id as id
            from changes r
            where p.changed
            and (r.tenant + 0) = t.number
            and r.operation = 'delete'
            and r.subject_id = back.id
            and r.subject_type = 'folder'
            and r.subject_relation > ''
            and r.entity_type = 'folder'
            and r.relation = 'parent'
            and coalesce(r.entity_id, '') > $9::text
            and (r.entity_id in (
              select s.id
              from scope0 s
            )) is true
            and pg_visible_in_snapshot(r.created_xid, $2::pg_snapshot)
            and not pg_visible_in_snapshot(r.xid, $2::pg_snapshot)
          ) u
          offset 0
        ) p
        where back.state = 0
      ) c(id, sure, level)
    ) c group by c.id order by c.id
    limit $10::int
  )
  select (
    select count(*)::int
    from found
  ) as candidates, (
    select max(found.id)
    from found
  ) as last, coalesce(
    (
      select json_agg(a.answer)
      from (
        select json_build_array(found.id, v.v) as answer
        from found
        cross join lateral (
          select least(2, case when found.sure then 2 else 1 end) as v
          offset 0
        ) v
        where v.v > 0
        limit $11::int
      ) a
    ), '[]'::json
  ) as answers
) a
where t.id = $12::text
