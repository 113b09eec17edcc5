-- `visible` for the tenant and the subject of the session.
create or replace function :"entry".my_visible(
  entity_type text, permission text, subject_type text default 'user'
)
returns setof text
language plpgsql stable security definer parallel restricted rows 100
set search_path to pg_catalog, pg_temp
as $$
begin
  -- With all arguments, no other function of the name can be meant.
  return query
    select v.id
    from :"entry".visible(
      :"plans".bound_tenant(), entity_type, permission, subject_type, :"entry".subject(),
      ''::text
    ) as v(id);
end
$$
