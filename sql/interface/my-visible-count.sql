-- `visible_count` for the tenant and the subject of the session.
create or replace function :"entry".my_visible_count(
  entity_type text, permission text, at_most integer default 10000,
  subject_type text default 'user'
)
returns integer
language plpgsql stable security definer parallel restricted cost 10000
set search_path to pg_catalog, pg_temp
as $$
begin
  return :"entry".visible_count(
    :"plans".bound_tenant(), entity_type, permission, subject_type, :"entry".subject(), at_most
  );
end
$$
