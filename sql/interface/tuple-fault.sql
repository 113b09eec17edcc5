-- Why a tuple does not fit a schema version, as an object with `code`, `field` and `message`. Null when
-- it fits, or nothing is known of the version.
create or replace function :"plans".tuple_fault(
  tenant_number bigint, head text, entity_type text, entity_id text, relation text,
  subject_type text, subject_id text, subject_relation text
)
returns jsonb
language plpgsql stable
set search_path to pg_catalog, pg_temp
as $$
declare
  types text[] := :"plans".entity_types(tenant_number, head);
  names text[];
  allowed text[];
  asked text := subject_type
    || case when subject_relation = '' then '' else '#' || subject_relation end;
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
  select array_agg(
      n.subject_type || case when n.subject_relation = '' then '' else '#' || n.subject_relation end
      order by n.place
    )
    into allowed
    from :"plans".names as n
    where n.tenant = tenant_number
      and n.version = tuple_fault.head
      and n.entity_type = tuple_fault.entity_type
      and n.name = tuple_fault.relation
      and n.subject_type <> '';
  if allowed is null then
    names := array(
      select n.name
      from :"plans".names as n
      where n.tenant = tenant_number
        and n.version = tuple_fault.head
        and n.entity_type = tuple_fault.entity_type
        and n.subject_type <> ''
      group by n.name
      order by min(n.place)
    );
    return jsonb_build_object(
      'code', 'RELATION_DEFINITION_NOT_FOUND', 'field', 'relation',
      'message', :"plans".not_among(relation, format('a relation of `%s`', entity_type), names)
    );
  end if;
  if asked <> all(allowed) then
    return jsonb_build_object(
      'code', 'SUBJECT_TYPE_NOT_FOUND', 'field', 'subject',
      'message', format(
        '`%s` is not a subject of `%s#%s`, expected `%s`', asked, entity_type, relation,
        array_to_string(allowed, '`, `')
      )
    );
  end if;
  if (entity_type, entity_id, relation) = (subject_type, subject_id, subject_relation) then
    return jsonb_build_object(
      'code', 'ENTITY_AND_SUBJECT_CANNOT_BE_EQUAL', 'field', 'subject',
      'message', format('`%s:%s#%s` cannot be its own subject', entity_type, entity_id, relation)
    );
  end if;
  return null;
end
$$
