-- The entities of a type on which a subject may do something, each once, in no order.
create or replace function :"entry".visible(
  tenant text, entity_type text, permission text,
  subject_type text, subject_id text, subject_relation text default ''
)
returns setof text
language plpgsql stable security definer parallel restricted rows 100
set search_path to pg_catalog, pg_temp
as $$
declare
  place record;
begin
  place := :"plans".locate(
    'visible', tenant collate "C", entity_type, permission, subject_type, subject_relation
  );
  if subject_id is null then
    return;
  end if;
  return query
    execute format(
      'select r.id from %s($1, $2, null) as r
      where case r.verdict when 2 then true else %I.undecided($3, r.id, $4, $5, $2, $6) end',
      place.function, :'plans'
    )
    using place.tenant_number, subject_id,
      entity_type, permission, subject_type, subject_relation;
end
$$
