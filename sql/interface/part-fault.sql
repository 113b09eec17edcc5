-- Why a text is no name, or no id. Null when it is one.
create or replace function :"plans".part_fault(part text, is_name boolean) returns text
language plpgsql immutable
set search_path to pg_catalog, pg_temp
as $$
declare
  expected text := case
    when is_name then 'a name of 1 to 64 letters and underscores'
    else 'an id of 1 to 128 characters a-z A-Z 0-9 _ - @ . : + (or `*` alone)'
  end;
begin
  if coalesce(part, '') = '' then
    return 'is missing, expected ' || expected;
  end if;
  if is_name and part ~ '^[a-zA-Z_]+$' and octet_length(part) <= 64
    or not is_name and part ~ '^[a-zA-Z0-9_@.:+-]+$' and octet_length(part) <= 128
    or not is_name and part = '*'
  then
    return null;
  end if;
  return format(
    '`%s%s` is not %s', left(part, 100), case when length(part) > 100 then '...' else '' end, expected
  );
end
$$
