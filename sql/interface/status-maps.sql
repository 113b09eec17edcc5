-- The maps that are there: `name`; `source`, the name of the table; `triggers`, how many of its four
-- triggers are there and enabled; and `unknown`, what it derives that no head has.
select m.name, m.source,
  (
    select count(*)::integer
    from pg_catalog.pg_trigger as t
    join pg_catalog.pg_proc as p on p.oid = t.tgfoid
    join pg_catalog.pg_namespace as n on n.oid = p.pronamespace
    where n.nspname = :'entry'
      and p.proname = 'map_' || m.name
      and t.tgenabled in ('O', 'A')
  ) as triggers,
  array_to_json(array(
    select d.label
    from :"tables".derived as d
    where d.map = m.name
      and not exists (
        select
        from :"tables".tenants as t
        join :"plans".names as a
          on a.tenant = t.number
          and a.version = t.head_version
          and a.entity_type = d.entity_type
          and a.name = case d.attribute when '' then d.relation else d.attribute end
          and a.subject_type = d.subject_type
          and a.subject_relation = d.subject_relation
        where d.tenant in ('', t.id)
      )
    order by d.label
  )) as unknown
from :"tables".maps as m
order by m.name
