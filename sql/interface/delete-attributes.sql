-- Deletes attributes, given as `type:id$attribute`, in the transaction of the caller. Returns how many
-- were there.
create or replace function :"entry".delete_attributes(tenant text, attributes text[])
returns integer
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
  entity_types text[] collate "C";
  entity_ids text[] collate "C";
  names text[] collate "C";
  faults jsonb;
begin
  place := :"plans".begin_write(tenant collate "C");
  if attributes is null then
    raise exception using
      errcode = 'null_value_not_allowed',
      message = 'the argument `attributes` is null';
  end if;
  if cardinality(attributes) > 10000 then
    raise exception using
      errcode = 'program_limit_exceeded',
      message = format('`attributes` has %s elements, expected at most 10000', cardinality(attributes));
  end if;
  if cardinality(attributes) = 0 then
    return 0;
  end if;
  select array_agg(w.parts[1]), array_agg(w.parts[2]), array_agg(w.parts[3]),
      jsonb_agg(
        jsonb_build_object(
          'code', 'VALIDATION',
          'field', format('attributes[%s]', w.place - 1),
          'message', w.problem
        )
        order by w.place
      ) filter (where w.problem is not null)
    into entity_types, entity_ids, names, faults
    from (
      select g.place, p.parts,
        case
          when p.parts is null then format(
            '`%s%s` cannot be read, expected `type:id$attribute`',
            left(g.spelled, 200), case when length(g.spelled) > 200 then '...' else '' end
          )
          else coalesce(
            :"plans".part_fault(p.parts[1], true), :"plans".part_fault(p.parts[2], false),
            :"plans".part_fault(p.parts[3], true)
          )
        end as problem
      from unnest(attributes collate "C") with ordinality as g(spelled, place)
      cross join lateral regexp_match(btrim(g.spelled), '^([^:]*):([^#$]*)[$](.*)$') as p(parts)
      order by g.place
    ) as w;
  if faults is not null then
    perform :"plans".refuse_data(
      (select jsonb_agg(f.fault order by f.place)
        from jsonb_array_elements(faults) with ordinality as f(fault, place)
        where f.place <= 100),
      null
    );
  end if;
  if :"tables".may_derive() then
    perform :"plans".refuse_derived_elements(
      tenant collate "C", 'attributes', 'attribute',
      array(
        select w.entity_type || '$' || w.name
        from unnest(entity_types, names) with ordinality as w(entity_type, name, place)
        order by w.place
      )
    );
  end if;
  return :"tables".delete_listed_attributes(
    place.tenant_number, place.next_ordinal, entity_types, entity_ids, names
  ) - place.next_ordinal;
end
$$
