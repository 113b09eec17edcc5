-- The id of the tenant for which the session works.
create or replace function :"plans".bound_tenant() returns text
language plpgsql stable parallel restricted
set search_path to pg_catalog, pg_temp
as $$
declare
  given text := nullif(current_setting('pemba.tenant', true), '');
begin
  if given is null then
    raise exception using
      errcode = 'null_value_not_allowed',
      message = 'the setting `pemba.tenant` is not set';
  end if;
  return given;
end
$$
