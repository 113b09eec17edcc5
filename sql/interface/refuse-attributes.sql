-- Fails with PB005: attributes of a request do not fit a schema version, or one of them has two values.
-- As over REST, the faults are those of names, ids and values if there are any, else those of the schema.
-- The lists are what `read_attributes` has read.
create or replace function :"plans".refuse_attributes(
  tenant_number bigint, head text, attributes jsonb, entity_types text[], entity_ids text[],
  names text[], value_types text[], attribute_values jsonb[]
)
returns void
language plpgsql volatile
set search_path to pg_catalog, pg_temp
as $$
declare
  faults_max constant integer := 100;
  faults jsonb;
begin
  select coalesce(jsonb_agg(f.fault order by f.place), '[]')
    into faults
    from (
      select g.place,
        jsonb_build_object(
          'code', 'VALIDATION',
          'field', format('attributes[%s].%s', g.place - 1, p.field),
          'message', p.problem
        ) as fault
      from jsonb_array_elements(attributes) with ordinality as g(given, place)
      cross join lateral :"plans".attribute_part_fault(g.given) as p
      where p.problem is not null
      order by g.place
      limit faults_max
    ) as f;
  if faults = '[]' then
    select coalesce(jsonb_agg(f.fault order by f.place), '[]')
      into faults
      from (
        select w.place,
          case
            when p.fault is not null then jsonb_set(
              p.fault, '{field}',
              to_jsonb(format('attributes[%s].%s', w.place - 1, p.fault ->> 'field'))
            )
            else jsonb_build_object(
              'code', 'VALIDATION',
              'field', format('attributes[%s].value', w.place - 1),
              'message', format(
                '`%s:%s$%s` has another value at attributes[%s], expected one value in a request',
                w.entity_type, w.entity_id, w.name, w.first_place - 1
              )
            )
          end as fault
        from (
          select a.*,
            first_value(a.value) over same_key as first_value,
            first_value(a.place) over same_key as first_place
          from unnest(entity_types, entity_ids, names, value_types, attribute_values)
            with ordinality as a(entity_type, entity_id, name, value_type, value, place)
          window same_key as (partition by a.entity_type, a.entity_id, a.name order by a.place)
        ) as w
        cross join lateral :"plans".attribute_fault(
          tenant_number, head, w.entity_type, w.name, w.value_type
        ) as p(fault)
        where p.fault is not null
          or head is not null and w.value <> w.first_value
        order by w.place
        limit faults_max
      ) as f;
  end if;
  perform :"plans".refuse_data(faults, head);
end
$$
