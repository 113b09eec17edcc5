-- $1: snapshot
-- $2: snapshot_change
-- $3: snapshot_timeline
-- $4: snapshot_taken_before
-- $5: snapshot_last
-- $6: context_attributes
-- $7: item_0
-- $8: id_0
-- $9: tenant

select t.head_version, p.is_future, p.is_lost, p.is_expired, p.is_before_tenant, p.is_partial, a.item, a.verdict, a.nodes, null::text as facts
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
cross join (
  select $6::text::jsonb as attributes
  offset 0
) context
cross join lateral (
  select $7::int as item, c.v as verdict, c.n as nodes, c.facts
  from (
    select x.v, x.n, null::text[] as facts
    from (
      select coalesce(
        (
          select case when a.value_type <> 'boolean' then 1 when a.value = 'true'::jsonb then 2 else 0 end
          from (
            select *
            from (
              select (c.found ->> 0) collate "C" as value_type, c.found -> 1 as value
              from (
                select context.attributes -> ('folder' || ':' || $8::text collate "C" || '#' || 'open') as found
                offset 0
              ) c
              where c.found is not null
              union all
              select r.value_type, r.value
              from attributes r
              where r.tenant = t.number
              and r.entity_id = $8::text collate "C"
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
              and r.entity_id = $8::text collate "C"
              and r.attribute = 'open'
              and r.entity_type = 'folder'
              and pg_visible_in_snapshot(r.created_xid, $1::pg_snapshot)
              and not pg_visible_in_snapshot(r.xid, $1::pg_snapshot)
            ) a
            limit 1
          ) a
        ), 0
      ) as v, 1::bigint as n
    ) x
  ) c
) a
where t.id = $9::text
