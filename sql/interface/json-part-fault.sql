-- Why a JSON value is no name, or no id. Null when it is one.
create or replace function :"plans".json_part_fault(part jsonb, is_name boolean) returns text
language plpgsql immutable
set search_path to pg_catalog, pg_temp
as $$
begin
  if coalesce(jsonb_typeof(part), 'null') in ('null', 'string') then
    return :"plans".part_fault(part #>> '{}', is_name);
  end if;
  return format('%s is not a text', :"plans".shown_json(part));
end
$$
