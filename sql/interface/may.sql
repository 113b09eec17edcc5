-- Whether a subject may do something on an entity.
create or replace function :"entry".may(
  tenant text, entity_type text, entity_id text, permission text,
  subject_type text, subject_id text, subject_relation text default ''
)
returns boolean
language plpgsql stable security definer parallel restricted cost 1000
set search_path to pg_catalog, pg_temp
as $$
declare
  place record;
  verdict integer;
begin
  place := :"plans".locate(
    'may', tenant collate "C", entity_type, permission, subject_type, subject_relation
  );
  if entity_id is null or subject_id is null then
    return false;
  end if;
  execute format('select %s($1, $2, $3)', place.function)
    into verdict
    using place.tenant_number, entity_id, subject_id;
  if verdict = 1 then
    return :"plans".undecided(
      entity_type, entity_id, permission, subject_type, subject_id, subject_relation
    );
  end if;
  return verdict = 2;
end
$$
