-- Why a text has not the form of a tuple.
create or replace function :"plans".text_fault(given text) returns text
language plpgsql immutable
set search_path to pg_catalog, pg_temp
as $$
begin
  return case
    when given is null then 'is null'
    else format(
      '`%s%s` cannot be read, %s',
      left(given, 200), case when length(given) > 200 then '...' else '' end,
      case
        when given !~ ':' then 'it has no `:`'
        when given !~ '^[^:]*:[^#$]*#' then 'it has no `#` after the id'
        when given !~ '^[^:]*:[^#$]*#[^@]*@' then 'it has no `@` after the relation'
        else 'the subject has no `:`'
      end
    )
  end || ', expected `type:id#relation@type:id` or `type:id#relation@type:id#relation`';
end
$$
