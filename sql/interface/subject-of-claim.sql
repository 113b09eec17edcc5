-- The id of the subject for whom the session works, null if there is none.
create or replace function :"entry".subject() returns text
language plpgsql stable parallel safe
set search_path to pg_catalog, pg_temp
as $$
declare
  claims jsonb := nullif(current_setting('request.jwt.claims', true), '')::jsonb;
begin
  if jsonb_typeof(claims -> :'subject') is distinct from 'string' then
    return null;
  end if;
  return nullif(claims ->> :'subject', '');
end
$$
