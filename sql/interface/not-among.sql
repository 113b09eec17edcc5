-- Why a name is none of those that are expected.
create or replace function :"plans".not_among(given text, what text, names text[]) returns text
language plpgsql immutable
set search_path to pg_catalog, pg_temp
as $$
declare
  shown_max constant integer := 20;
begin
  if cardinality(names) = 0 then
    return format('`%s` is not %s, which has none', given, what);
  end if;
  return format(
    '`%s` is not %s, expected `%s`%s%s', given, what,
    array_to_string(names[:shown_max], '`, `'),
    case
      when cardinality(names) > shown_max
        then format(' and %s more', cardinality(names) - shown_max)
      else ''
    end,
    :"plans".suggest(given, names)
  );
end
$$
