-- The parts of attributes as a request gives them, one list for each column, values as they are stored.
-- `are_readable`: all parts are what they should be.
create or replace function :"plans".read_attributes(
  attributes jsonb, out entity_types text[], out entity_ids text[], out names text[],
  out value_types text[], out attribute_values jsonb[], out are_readable boolean
)
language plpgsql stable
set search_path to pg_catalog, pg_temp
as $$
begin
  if attributes is null then
    raise exception using
      errcode = 'null_value_not_allowed',
      message = 'the argument `attributes` is null';
  end if;
  if jsonb_typeof(attributes) <> 'array' then
    raise exception using
      errcode = 'invalid_parameter_value',
      message = 'the argument `attributes` is not a JSON list';
  end if;
  if jsonb_array_length(attributes) > 10000 then
    raise exception using
      errcode = 'program_limit_exceeded',
      message = format(
        '`attributes` has %s elements, expected at most 10000', jsonb_array_length(attributes)
      );
  end if;
  select array_agg(g.given #>> '{entity,type}'), array_agg(g.given #>> '{entity,id}'),
      array_agg(g.given ->> 'attribute'), array_agg(t.value_type), array_agg(v.value),
      coalesce(bool_and(f.problem is null), true)
    into entity_types, entity_ids, names, value_types, attribute_values, are_readable
    from jsonb_array_elements(attributes) as g(given)
    cross join lateral :"plans".attribute_part_fault(g.given) as f
    cross join lateral :"plans".value_type(g.given #>> '{value,@type}') as t(value_type)
    cross join lateral :"plans".attribute_value(t.value_type, g.given #> '{value,data}') as v;
end
$$
