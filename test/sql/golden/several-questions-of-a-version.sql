-- $1: version
-- $2: id_0
-- $3: subject_0
-- $4: item_0
-- $5: id_1
-- $6: subject_1
-- $7: item_1
-- $8: tenant

select t.head_version, exists (
  select 1
  from schemas v
  where v.tenant = t.number
  and v.version = $1::text
) as has_version, a.item, a.verdict, a.nodes, f.facts
from tenants t
cross join lateral (
  select q.item, c.v as verdict, c.n as nodes, c.facts
  from (
    select u.id collate "C" as id, u.subject collate "C" as subject, u.item
    from unnest($2::text[], $3::text[], $4::int[]) as u(id, subject, item)
  ) q
  cross join lateral (
    select x.v, x.n, null::text[] as facts
    from (
      select case when exists (
        select 1
        from (
          select 1
          from relationships r
          where r.tenant = t.number
          and r.relation = 'owner'
          and r.entity_id = q.id
          and r.entity_type = 'folder'
          and r.subject_type = 'user'
          and r.subject_relation = ''
          and r.subject_id = q.subject
        ) d
        offset 0
      ) then 2 else 0 end as v, 1::bigint as n
    ) x
  ) c
  union all
  select q.item, c.v as verdict, c.n as nodes, c.facts
  from (
    select u.id collate "C" as id, u.subject collate "C" as subject, u.item
    from unnest($5::text[], $6::text[], $7::int[]) as u(id, subject, item)
  ) q
  cross join lateral (
    select null::int as v, null::bigint as n, g.facts
    from (
      with recursive reach(type, id) as (
        select 0, q.id collate "C"
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
            and r.subject_id = q.subject
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
            and r.subject_id = q.subject
            and s.type = 1
          ) f
        ) l
        cross join lateral generate_series(1, array_length(l.codes, 1), 1000) i
      ) as facts
    ) g
  ) c
) a
left join lateral unnest(a.facts) f(facts) on true
where t.id = $8::text
