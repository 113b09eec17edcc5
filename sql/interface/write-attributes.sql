-- Sets attributes in the transaction of the caller: a list of objects with `entity`, `attribute` and
-- `value`, as a request over REST has them. Returns how many got another value.
create or replace function :"entry".write_attributes(tenant text, attributes jsonb) returns integer
language plpgsql volatile security definer
set search_path to pg_catalog, pg_temp
set plan_cache_mode to force_generic_plan
set jit to off
set enable_seqscan to off
set enable_bitmapscan to off
set enable_hashjoin to off
set enable_mergejoin to off
as $$
declare
  place record;
  parts record;
  fitting integer := 0;
  conflicts integer;
  made integer;
begin
  place := :"plans".begin_write(tenant collate "C");
  parts := :"plans".read_attributes(attributes);
  if parts.are_readable then
    select count(*), count(distinct (w.entity_type, w.entity_id, w.name, w.value))
        - count(distinct (w.entity_type, w.entity_id, w.name))
      into fitting, conflicts
      from unnest(
        parts.entity_types, parts.entity_ids, parts.names, parts.value_types,
        parts.attribute_values
      ) as w(entity_type, entity_id, name, value_type, value)
      join :"plans".names as n
        on n.tenant = place.tenant_number
        and n.version = place.head
        and n.entity_type = w.entity_type
        and n.name = w.name
        and n.subject_type = ''
        and n.subject_relation = ''
        and n.value_type = w.value_type;
  end if;
  if fitting < jsonb_array_length(attributes) or conflicts > 0 then
    perform :"plans".refuse_attributes(
      place.tenant_number, place.head, attributes, parts.entity_types, parts.entity_ids,
      parts.names, parts.value_types, parts.attribute_values
    );
  end if;
  if fitting = 0 then
    return 0;
  end if;
  if :"tables".may_derive() then
    perform :"plans".refuse_derived_elements(
      tenant collate "C", 'attributes', 'attribute',
      array(
        select w.entity_type || '$' || w.name
        from unnest(parts.entity_types, parts.names) with ordinality
          as w(entity_type, name, place)
        order by w.place
      )
    );
  end if;
  perform :"tables".set_attributes(
    place.tenant_number, place.next_ordinal, array_agg(w.entity_type), array_agg(w.entity_id),
    array_agg(w.name), array_agg(w.value_type), array_agg(w.value::text)
  )
  from (
    select distinct on (u.entity_type, u.entity_id, u.name) u.*
    from unnest(
      parts.entity_types, parts.entity_ids, parts.names, parts.value_types, parts.attribute_values
    ) as u(entity_type, entity_id, name, value_type, value)
  ) as w;
  select count(*)
    into made
    from :"tables".changes as c
    where c.tenant = place.tenant_number
      and c.xid = pg_current_xact_id()
      and c.ordinal >= place.next_ordinal
      and c.operation = 'create';
  return made;
end
$$
