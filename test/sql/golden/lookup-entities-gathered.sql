-- $1: id
-- $2: depth
-- $3: after
-- $4: candidates
-- $5: tenant

select t.head_version, case when current_setting('transaction_read_only') = 'on' then settled_state(t.number, t.created_xid) else pg_current_snapshot()::text end as snapshot, greatest(t.created_xid, (
  select d.xid
  from durable_xid d
))::text as durable, current_timeline() as timeline, a.candidates, a.last, case when f.nth = 1 then a.answers end as answers, case when f.nth = 1 then a.unknown end as unknown, f.facts
from tenants t
cross join lateral (
  with recursive back(state, id, level, sure) as (
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
        select 1 as state, false as sure
      ) s
      offset 0
    ) n
  ), found as materialized (
    select c.id, bool_or(c.sure and scale(c.level) <= $2::int) as sure
    from (
      select c.*
      from (
        select p.id, back.sure
        and false as sure, back.level
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
  select s.candidates, s.last, a.*, (
    select g.facts
    from (
      with recursive reach(type, id) as (
        select 0, unnest(array(
          select found.id
          from found
        )) collate "C"
        union
        select n.type, n.id
        from (
          select l.type, l.ids
          from (
            select w.type, array_agg(w.id) over (partition by w.type) as ids, row_number() over (partition by w.type) as nth
            from reach w
          ) l
          where l.nth = 1
        ) s
        cross join lateral (
          select 1 as type, r.subject_id as id
          from relationships r
          where r.tenant = t.number
          and r.relation = 'viewer'
          and r.entity_id = any(s.ids)
          and r.entity_type = 'folder'
          and r.subject_type = 'group'
          and r.subject_relation = 'member'
          and s.type = 0
          union all
          select 0 as type, r.subject_id as id
          from relationships r
          where r.tenant = t.number
          and r.relation = 'parent'
          and r.entity_id = any(s.ids)
          and r.entity_type = 'folder'
          and r.subject_type = 'folder'
          and s.type = 0
          union all
          select 1 as type, r.subject_id as id
          from relationships r
          where r.tenant = t.number
          and r.relation = 'member'
          and r.entity_id = any(s.ids)
          and r.entity_type = 'group'
          and r.subject_type = 'group'
          and r.subject_relation = 'member'
          and s.type = 1
        ) n
      ), sets as materialized (
        select r.type, array_agg(r.id) as ids, count(*) as size
        from (
          select *
          from reach
          limit 10001
        ) r group by r.type
      ), tuples as (
        select f.*
        from sets s
        cross join lateral (
          select '2' as code, r.entity_id, r.subject_id
          from relationships r
          where r.tenant = t.number
          and r.relation = 'viewer'
          and r.entity_id = any(s.ids)
          and r.entity_type = 'folder'
          and r.subject_type = 'group'
          and r.subject_relation = 'member'
          and s.type = 0
          union all
          select '3' || ' ' || r.subject_relation as code, r.entity_id, r.subject_id
          from relationships r
          where r.tenant = t.number
          and r.relation = 'parent'
          and r.entity_id = any(s.ids)
          and r.entity_type = 'folder'
          and r.subject_type = 'folder'
          and s.type = 0
          union all
          select '4' as code, r.entity_id, r.subject_id
          from relationships r
          where r.tenant = t.number
          and r.relation = 'member'
          and r.entity_id = any(s.ids)
          and r.entity_type = 'group'
          and r.subject_type = 'group'
          and r.subject_relation = 'member'
          and s.type = 1
        ) f
        limit 50001
      ), lists as materialized (
        select array_agg(t.code) as codes, array_agg(t.entity_id) as entities, array_agg(t.subject_id) as subjects, count(*)::int as size
        from tuples t
      )
      select array[ 'n' || (
        select coalesce(sum(s.size), 0)
        from sets s
      ) || ' ' || (
        select l.size
        from lists l
      ) || ' ' || 0 || ' ' || '[["folder","viewer"],["group","member"],["folder","viewer","group","member"],["folder","parent","folder",null],["group","member","group","member"]]' ] || array(
        select 'e' || json_build_array(l.codes[i:i + 999], l.entities[i:i + 999], l.subjects[i:i + 999])
        from lists l
        cross join lateral generate_series(1, l.size, 1000) i
        where l.size <= 50000
      ) || array(
        select 'd' || json_build_array(l.codes[i:i + 999], l.entities[i:i + 999])
        from (
          select array_agg(f.code) as codes, array_agg(f.entity_id) as entities
          from sets s
          cross join lateral (
            select '0' as code, r.entity_id
            from relationships r
            where r.tenant = t.number
            and r.relation = 'viewer'
            and r.entity_id = any(s.ids)
            and r.entity_type = 'folder'
            and r.subject_type = 'user'
            and r.subject_relation = ''
            and r.subject_id = $1::text collate "C"
            and s.type = 0
            union all
            select '1' as code, r.entity_id
            from relationships r
            where r.tenant = t.number
            and r.relation = 'member'
            and r.entity_id = any(s.ids)
            and r.entity_type = 'group'
            and r.subject_type = 'user'
            and r.subject_relation = ''
            and r.subject_id = $1::text collate "C"
            and s.type = 1
          ) f
        ) l
        cross join lateral generate_series(1, array_length(l.codes, 1), 1000) i
      ) as facts
    ) g
  ) as facts
  from span s
  cross join (
    select string_agg(a.id, ' ') as answers, string_agg(a.id, ' ') filter (where a.v = 1) as unknown
    from (
      select found.id, 1 as v
      from found
    ) a
  ) a
) a
cross join lateral unnest(a.facts)
with ordinality f(facts, nth)
where t.id = $5::text
