-- $1: context_tuple_entity_type
-- $2: context_tuple_entity_id
-- $3: context_tuple_relation
-- $4: context_tuple_subject_type
-- $5: context_tuple_subject_id
-- $6: context_tuple_subject_relation
-- $7: context_attributes
-- $8: snapshot
-- $9: snapshot_timeline
-- $10: snapshot_change
-- $11: snapshot_taken_before
-- $12: item_0
-- $13: id_0
-- $14: tenant

with context_tuples as materialized (
  select c.entity_type collate "C" as entity_type, c.entity_id collate "C" as entity_id, c.relation collate "C" as relation, c.subject_type collate "C" as subject_type, c.subject_id collate "C" as subject_id, c.subject_relation collate "C" as subject_relation
  from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[]) as c(entity_type, entity_id, relation, subject_type, subject_id, subject_relation)
), context_attributes as materialized (
  select (c.row ->> 'entity_type') collate "C" as entity_type, (c.row ->> 'entity_id') collate "C" as entity_id, (c.row ->> 'attribute') collate "C" as attribute, (c.row ->> 'value_type') collate "C" as value_type, c.row -> 'value' as value
  from jsonb_array_elements($7::text::jsonb) as c(row)
)
select t.head_version, p.is_future, p.is_lost, p.is_expired, p.is_before_tenant, a.item, a.verdict, a.nodes, a.facts
from tenants t
cross join lateral (
  select pg_snapshot_xmax($8::pg_snapshot) > case when current_setting('transaction_read_only') = 'on' then pg_snapshot_xmin(pg_current_snapshot()) else pg_snapshot_xmax(pg_current_snapshot()) end as is_future, $9::int <> current_timeline()
  and is_lost(t.number, $9::int, $10::xid8, $11::xid8) as is_lost, pg_snapshot_xmin($8::pg_snapshot) < (
    select i.horizon
    from installation i
  ) as is_expired, not pg_visible_in_snapshot(t.created_xid, $8::pg_snapshot) as is_before_tenant, (exists (
    select 1
    from changes l
    where l.tenant = t.number
    and l.xid >= pg_snapshot_xmax($8::pg_snapshot)
  ) or exists (
    select 1
    from pg_snapshot_xip($8::pg_snapshot) x(xid)
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
  select $12::int as item, c.v as verdict, c.n as nodes, c.facts
  from (
    select x.v, x.n, null::jsonb as facts
    from (
      select coalesce(
        (
          select case when a.value_type <> 'boolean' then 1 when a.value = 'true'::jsonb then 2 else 0 end
          from (
            select *
            from (
              select r.value_type, r.value
              from context_attributes r
              where r.entity_id = $13::text collate "C"
              and r.attribute = 'open'
              and r.entity_type = 'folder'
              union all
              select r.value_type, r.value
              from attributes r
              where r.tenant = t.number
              and r.entity_id = $13::text collate "C"
              and r.attribute = 'open'
              and r.entity_type = 'folder'
              and pg_visible_in_snapshot(r.created_xid, $8::pg_snapshot)
              union all
              select r.value_type, r.value
              from changes r
              where p.changed
              and (r.tenant + 0) = t.number
              and r.operation = 'delete'
              and r.attribute is not null
              and r.entity_id = $13::text collate "C"
              and r.attribute = 'open'
              and r.entity_type = 'folder'
              and pg_visible_in_snapshot(r.created_xid, $8::pg_snapshot)
              and not pg_visible_in_snapshot(r.xid, $8::pg_snapshot)
            ) a
            limit 1
          ) a
        ), 0
      ) as v, 1::bigint as n
    ) x
  ) c
) a
where t.id = $14::text
