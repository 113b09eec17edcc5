-- The id of the subject for whom the session works, null if there is none.
create or replace function :"entry".subject() returns text
language plpgsql stable parallel safe
set search_path to pg_catalog, pg_temp
as $$
begin
  -- A setting that was local to an earlier transaction is empty, not null.
  return nullif(current_setting(:'subject', true), '');
end
$$
