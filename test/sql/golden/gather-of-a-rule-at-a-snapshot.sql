-- $1: snapshot
-- $2: snapshot_change
-- $3: snapshot_timeline
-- $4: snapshot_taken_before
-- $5: snapshot_last
-- $6: item_0
-- $7: id_0
-- $8: subject_0
-- $9: tenant

select t.head_version, p.is_future, p.is_lost, p.is_expired, p.is_before_tenant, p.is_partial, a.item, a.verdict, a.nodes, f.facts
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
    select null::int as v, null::bigint as n, g.facts
    from (
      with recursive reach(type, id) as (
        select 0, $7::text collate "C" collate "C"
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
          and pg_visible_in_snapshot(r.created_xid, $1::pg_snapshot)
          union all
          select 1 as type, r.subject_id as id
          from changes r
          where p.changed
          and (r.tenant + 0) = t.number
          and r.operation = 'delete'
          and r.relation = 'viewer'
          and r.entity_id = any(s.ids)
          and r.entity_type = 'folder'
          and r.subject_type = 'group'
          and r.subject_relation = 'member'
          and s.type = 0
          and pg_visible_in_snapshot(r.created_xid, $1::pg_snapshot)
          and not pg_visible_in_snapshot(r.xid, $1::pg_snapshot)
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
          and pg_visible_in_snapshot(r.created_xid, $1::pg_snapshot)
          union all
          select 1 as type, r.subject_id as id
          from changes r
          where p.changed
          and (r.tenant + 0) = t.number
          and r.operation = 'delete'
          and r.relation = 'member'
          and r.entity_id = any(s.ids)
          and r.entity_type = 'group'
          and r.subject_type = 'group'
          and r.subject_relation = 'member'
          and s.type = 1
          and pg_visible_in_snapshot(r.created_xid, $1::pg_snapshot)
          and not pg_visible_in_snapshot(r.xid, $1::pg_snapshot)
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
          and pg_visible_in_snapshot(r.created_xid, $1::pg_snapshot)
          union all
          select '2' as code, r.entity_id, r.subject_id
          from changes r
          where p.changed
          and (r.tenant + 0) = t.number
          and r.operation = 'delete'
          and r.relation = 'viewer'
          and r.entity_id = any(s.ids)
          and r.entity_type = 'folder'
          and r.subject_type = 'group'
          and r.subject_relation = 'member'
          and s.type = 0
          and pg_visible_in_snapshot(r.created_xid, $1::pg_snapshot)
          and not pg_visible_in_snapshot(r.xid, $1::pg_snapshot)
          union all
          select '3' as code, r.entity_id, r.subject_id
          from relationships r
          where r.tenant = t.number
          and r.relation = 'member'
          and r.entity_id = any(s.ids)
          and r.entity_type = 'group'
          and r.subject_type = 'group'
          and r.subject_relation = 'member'
          and s.type = 1
          and pg_visible_in_snapshot(r.created_xid, $1::pg_snapshot)
          union all
          select '3' as code, r.entity_id, r.subject_id
          from changes r
          where p.changed
          and (r.tenant + 0) = t.number
          and r.operation = 'delete'
          and r.relation = 'member'
          and r.entity_id = any(s.ids)
          and r.entity_type = 'group'
          and r.subject_type = 'group'
          and r.subject_relation = 'member'
          and s.type = 1
          and pg_visible_in_snapshot(r.created_xid, $1::pg_snapshot)
          and not pg_visible_in_snapshot(r.xid, $1::pg_snapshot)
        ) f
        limit 50001
      ), lists as materialized (
        select array_agg(t.code) as codes, array_agg(t.entity_id) as entities, array_agg(t.subject_id) as subjects, count(*)::int as size
        from tuples t
      ) , attribute_facts as materialized (
        select f.fact, sum(octet_length(f.fact::text)) over (rows unbounded preceding) as bytes
        from (
          select r.type, unnest(r.ids) as id
          from sets r
        ) s
        cross join lateral (
          select json_build_array('folder', s.id, 'tags', v.value_type, v.value) as fact
          from (
            select *
            from (
              select r.value_type, r.value
              from attributes r
              where r.tenant = t.number
              and r.entity_id = s.id
              and r.attribute = 'tags'
              and r.entity_type = 'folder'
              and pg_visible_in_snapshot(r.created_xid, $1::pg_snapshot)
              union all
              select r.value_type, r.value
              from changes r
              where p.changed
              and (r.tenant + 0) = t.number
              and r.operation = 'delete'
              and r.attribute is not null
              and r.entity_id = s.id
              and r.attribute = 'tags'
              and r.entity_type = 'folder'
              and pg_visible_in_snapshot(r.created_xid, $1::pg_snapshot)
              and not pg_visible_in_snapshot(r.xid, $1::pg_snapshot)
            ) a
            limit 1
          ) v
          where s.type = 0
          union all
          select json_build_array('folder', s.id, 'open', v.value_type, v.value) as fact
          from (
            select *
            from (
              select r.value_type, r.value
              from attributes r
              where r.tenant = t.number
              and r.entity_id = s.id
              and r.attribute = 'open'
              and r.entity_type = 'folder'
              and pg_visible_in_snapshot(r.created_xid, $1::pg_snapshot)
              union all
              select r.value_type, r.value
              from changes r
              where p.changed
              and (r.tenant + 0) = t.number
              and r.operation = 'delete'
              and r.attribute is not null
              and r.entity_id = s.id
              and r.attribute = 'open'
              and r.entity_type = 'folder'
              and pg_visible_in_snapshot(r.created_xid, $1::pg_snapshot)
              and not pg_visible_in_snapshot(r.xid, $1::pg_snapshot)
            ) a
            limit 1
          ) v
          where s.type = 0
        ) f
      )
      select array[ 'n' || (
        select coalesce(sum(s.size), 0)
        from sets s
      ) || ' ' || (
        select l.size
        from lists l
      ) || ' ' || coalesce(
        (
          select max(f.bytes)
          from attribute_facts f
        ), 0
      ) || ' ' || '[["folder","viewer"],["group","member"],["folder","viewer","group","member"],["group","member","group","member"]]' ] || array(
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
            and r.subject_id = $8::text collate "C"
            and s.type = 0
            and pg_visible_in_snapshot(r.created_xid, $1::pg_snapshot)
            union all
            select '0' as code, r.entity_id
            from changes r
            where p.changed
            and (r.tenant + 0) = t.number
            and r.operation = 'delete'
            and r.relation = 'viewer'
            and r.entity_id = any(s.ids)
            and r.entity_type = 'folder'
            and r.subject_type = 'user'
            and r.subject_relation = ''
            and r.subject_id = $8::text collate "C"
            and s.type = 0
            and pg_visible_in_snapshot(r.created_xid, $1::pg_snapshot)
            and not pg_visible_in_snapshot(r.xid, $1::pg_snapshot)
            union all
            select '1' as code, r.entity_id
            from relationships r
            where r.tenant = t.number
            and r.relation = 'member'
            and r.entity_id = any(s.ids)
            and r.entity_type = 'group'
            and r.subject_type = 'user'
            and r.subject_relation = ''
            and r.subject_id = $8::text collate "C"
            and s.type = 1
            and pg_visible_in_snapshot(r.created_xid, $1::pg_snapshot)
            union all
            select '1' as code, r.entity_id
            from changes r
            where p.changed
            and (r.tenant + 0) = t.number
            and r.operation = 'delete'
            and r.relation = 'member'
            and r.entity_id = any(s.ids)
            and r.entity_type = 'group'
            and r.subject_type = 'user'
            and r.subject_relation = ''
            and r.subject_id = $8::text collate "C"
            and s.type = 1
            and pg_visible_in_snapshot(r.created_xid, $1::pg_snapshot)
            and not pg_visible_in_snapshot(r.xid, $1::pg_snapshot)
          ) f
        ) l
        cross join lateral generate_series(1, array_length(l.codes, 1), 1000) i
      ) || array(
        select 'a' || array_to_json(array_agg(f.fact), true)
        from attribute_facts f
        where f.bytes <= 33554432 group by f.bytes / 65536
      ) as facts
    ) g
  ) c
) a
left join lateral unnest(a.facts) f(facts) on true
where t.id = $9::text
