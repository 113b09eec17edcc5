-- Those of some entities on which a subject may do something, each once, in no order.
create or replace function :"entry".may_of(
  tenant text, entity_type text, entity_ids text[], permission text,
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
    'may_of', tenant collate "C", entity_type, permission, subject_type, subject_relation
  );
  if entity_ids is null or subject_id is null then
    return;
  end if;
  return query
    execute format(
      'select r.id from %s($1, $2, $3) as r
      where case r.verdict when 2 then true else %I.undecided($4, r.id, $5, $6, $3, $7) end',
      place.function, :'plans'
    )
    using place.tenant_number, entity_ids, subject_id,
      entity_type, permission, subject_type, subject_relation;
end
$$
