-- The subjects of a type that may do something on an entity, each once, in no order.
create or replace function :"entry".who(
  tenant text, entity_type text, entity_id text, permission text,
  subject_type text, subject_relation text default ''
)
returns setof text
language plpgsql stable security definer parallel restricted rows 100
set search_path to pg_catalog, pg_temp
as $$
declare
  place record;
begin
  place := :"plans".locate(
    'who', tenant collate "C", entity_type, permission, subject_type, subject_relation
  );
  if entity_id is null then
    return;
  end if;
  return query
    execute format(
      'select r.id from %s($1, $2) as r
      where case r.verdict when 2 then true else %I.undecided($3, $2, $4, $5, r.id, $6) end',
      place.function, :'plans'
    )
    using place.tenant_number, entity_id,
      entity_type, permission, subject_type, subject_relation;
end
$$
