-- ` (did you mean ...?)` with the name nearest to a misspelled one, or an empty text when none is near.
create or replace function :"plans".suggest(given text, names text[]) returns text
language plpgsql immutable
set search_path to pg_catalog, pg_temp
as $$
declare
  nearest text;
  -- A name of three letters with two of them changed is another name.
  most integer := least(2, length(given) / 2);
  candidate text;
  above integer[];
  here integer[];
  edits integer;
begin
  foreach candidate in array names[:1000] loop
    continue when abs(length(candidate) - length(given)) > most;
    above := array(select generate_series(0, length(candidate)));
    for line in 1 .. length(given) loop
      here := array[line];
      for place in 1 .. length(candidate) loop
        here := here || least(
          above[place]
            + case when substr(given, line, 1) = substr(candidate, place, 1) then 0 else 1 end,
          above[place + 1] + 1,
          here[place] + 1
        );
      end loop;
      above := here;
    end loop;
    edits := above[length(candidate) + 1];
    continue when edits > most or edits = 0;
    nearest := candidate;
    most := edits - 1;
  end loop;
  return case when nearest is null then '' else format(' (did you mean `%s`?)', nearest) end;
end
$$
