-- `may_of` for the tenant and the subject of the session.
create or replace function :"entry".my_may_of(
  entity_type text, entity_ids text[], permission text, subject_type text default 'user'
)
returns setof text
language plpgsql stable security definer parallel restricted rows 100
set search_path to pg_catalog, pg_temp
as $$
begin
  -- With all arguments, no other function of the name can be meant.
  return query
    select m.id
    from :"entry".may_of(
      :"plans".bound_tenant(), entity_type, entity_ids, permission, subject_type,
      :"entry".subject(), ''::text
    ) as m(id);
end
$$
