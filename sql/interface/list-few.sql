-- For functions of `pemba sql list`: the ids that a subject may be allowed, from all that it reaches.
-- Null if they are more than `at_most`.
create or replace function :"entry".list_few(
  tenant text, entity_type text, permission text, subject_type text, subject_id text,
  states integer[], ids text[], levels numeric[], sures boolean[], at_most integer
)
returns text[]
language plpgsql stable security definer parallel restricted cost 10000
set search_path to pg_catalog, pg_temp
as $$
declare
  place record;
  found text[];
begin
  place := :"plans".locate(
    'few', tenant collate "C", entity_type, permission, subject_type, ''
  );
  execute format('select %s($1, $2, $3, $4, $5, $6, $7)', place.function)
    into found
    using place.tenant_number, subject_id, states, ids, levels, sures, at_most;
  return found;
end
$$
