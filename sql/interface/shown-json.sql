-- A value as a message shows it.
create or replace function :"plans".shown_json(given jsonb) returns text
language plpgsql immutable
set search_path to pg_catalog, pg_temp
as $$
declare
  spelled constant text := given #>> '{}';
begin
  return case jsonb_typeof(given)
    when 'array' then 'an array'
    when 'object' then 'an object'
    else format(
      '`%s%s`', left(spelled, 100), case when length(spelled) > 100 then '...' else '' end
    )
  end;
end
$$
