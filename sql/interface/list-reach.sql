-- For functions of `pemba sql list`: what a subject reaches on the way to the entities of a type, at
-- most so many rows of it (null: all).
create or replace function :"entry".list_reach(
  tenant text, entity_type text, permission text, subject_type text, subject_id text,
  at_most integer, out states integer[], out ids text[], out levels numeric[], out sures boolean[]
)
language plpgsql stable security definer parallel restricted
set search_path to pg_catalog, pg_temp
as $$
declare
  place record;
begin
  place := :"plans".locate(
    'reach', tenant collate "C", entity_type, permission, subject_type, ''
  );
  execute format('select r.* from %s($1, $2, $3) as r', place.function)
    into states, ids, levels, sures
    using place.tenant_number, subject_id, at_most;
end
$$
