-- Why an attribute does not fit a schema version, as an object with `code`, `field` and `message`. Null
-- when it fits, or nothing is known of the version.
create or replace function :"plans".attribute_fault(
  tenant_number bigint, head text, entity_type text, attribute text, value_type text
)
returns jsonb
language plpgsql stable
set search_path to pg_catalog, pg_temp
as $$
declare
  types text[] := :"plans".entity_types(tenant_number, head);
  expected text;
begin
  if types = '{}' then
    return null;
  end if;
  if entity_type <> all(types) then
    return jsonb_build_object(
      'code', 'ENTITY_TYPE_NOT_FOUND', 'field', 'entity.type',
      'message', :"plans".not_among(entity_type, 'an entity type', types)
    );
  end if;
  select n.value_type
    into expected
    from :"plans".names as n
    where n.tenant = tenant_number
      and n.version = attribute_fault.head
      and n.entity_type = attribute_fault.entity_type
      and n.name = attribute_fault.attribute
      and n.value_type <> '';
  if expected is null then
    return jsonb_build_object(
      'code', 'ATTRIBUTE_DEFINITION_NOT_FOUND', 'field', 'attribute',
      'message', :"plans".not_among(
        attribute, format('an attribute of `%s`', entity_type),
        array(
          select n.name
          from :"plans".names as n
          where n.tenant = tenant_number
            and n.version = attribute_fault.head
            and n.entity_type = attribute_fault.entity_type
            and n.value_type <> ''
          order by n.place
        )
      )
    );
  end if;
  if value_type <> expected then
    return jsonb_build_object(
      'code', 'ATTRIBUTE_TYPE_MISMATCH', 'field', 'value',
      'message', format(
        '`%s` is not the type of `%s$%s`, expected `%s`', value_type, entity_type, attribute, expected
      )
    );
  end if;
  return null;
end
$$
