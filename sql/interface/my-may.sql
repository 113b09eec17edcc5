-- `may` for the tenant and the subject of the session.
create or replace function :"entry".my_may(
  entity_type text, entity_id text, permission text, subject_type text default 'user'
)
returns boolean
language plpgsql stable security definer parallel restricted cost 1000
set search_path to pg_catalog, pg_temp
as $$
begin
  -- With all arguments, no other function of the name can be meant.
  return :"entry".may(
    :"plans".bound_tenant(), entity_type, entity_id, permission, subject_type, :"entry".subject(),
    ''::text
  );
end
$$
