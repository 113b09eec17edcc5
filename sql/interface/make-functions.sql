-- Makes those plan functions of a list that are missing. Several sessions may make the same ones.
create or replace function :"plans".make_functions(functions jsonb) returns void
language plpgsql volatile
set search_path to pg_catalog, pg_temp
as $$
declare
  made record;
begin
  if jsonb_array_length(functions) = 0 then
    return;
  end if;
  perform pg_advisory_xact_lock(:"tables".lock_key(0::bigint, 3));
  for made in
    select f.hash, f.kind, f.signature, f.definition
    from jsonb_to_recordset(functions)
      as f(hash text, kind text, signature text, definition text)
    where exists (select from :"plans".missing_functions(array[f.hash]))
    order by f.hash
  loop
    execute made.definition;
    perform :"plans".keep_function(made.hash, made.kind, made.signature);
  end loop;
end
$$
