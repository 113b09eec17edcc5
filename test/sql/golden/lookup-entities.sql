-- $1: id
-- $2: depth
-- $3: after
-- $4: candidates
-- $5: answers
-- $6: tenant

select t.head_version, pg_current_snapshot()::text as snapshot, current_timeline() as timeline, a.*
from tenants t
cross join lateral (
  with recursive closure(userset, id, level) as (
    (
      select 0, r.entity_id, 0::numeric
      from relationships r
      where r.tenant = t.number
      and r.subject_id = $1::text collate "C"
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
      and r.subject_id = $1::text collate "C"
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
            and r.subject_id = $1::text collate "C"
            and r.subject_type = 'user'
            and r.subject_relation = ''
            and r.entity_type = 'folder'
            and r.relation = o.name collate "C"
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
        and r.subject_id = $1::text collate "C"
        and r.subject_type = 'user'
        and r.subject_relation = ''
        and r.entity_type = 'group'
        and r.relation = 'member'
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
    ) n
  ), found as materialized (
    select c.id, bool_or(c.sure and scale(c.level) <= $2::int) as sure
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
                and r.subject_id = $1::text collate "C"
                and r.subject_type = 'user'
                and r.subject_relation = ''
                and r.entity_type = 'folder'
                and (r.relation, r.entity_id) > (o.name collate "C", $3::text)
                and r.relation <= o.name collate "C" order by r.relation, r.entity_id
                limit $4::int
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
            and (r.relation, r.entity_id) > ('viewer', $3::text)
            and r.relation <= 'viewer' order by r.relation, r.entity_id
            limit $4::int
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
            and (r.relation, r.entity_id) > ('parent', $3::text)
            and r.relation <= 'parent' order by r.relation, r.entity_id
            limit $4::int
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
            and coalesce(r.entity_id, '') > $3::text
          ) u
          offset 0
        ) p
        where back.state = 0
      ) c(id, sure, level)
    ) c group by c.id order by c.id
    limit $4::int
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
        limit $5::int
      ) a
    ), '[]'::json
  ) as answers
) a
where t.id = $6::text
