-- Makes those plan functions of a list that are missing. Several sessions may make the same ones. A
-- function that another role makes can be called by the owner of the functions that applications call.
create or replace function :"plans".make_functions(functions jsonb) returns void
language plpgsql volatile
set search_path to pg_catalog, pg_temp
as $$
declare
  made record;
  caller text := (
    select c.proowner::regrole::text
    from pg_catalog.pg_proc as c
    where c.pronamespace = to_regnamespace(quote_ident(:'entry')) and c.proname = 'may'
    limit 1
  );
begin
  if jsonb_array_length(functions) = 0 then
    return;
  end if;
  perform pg_advisory_xact_lock(:"tables".lock_key(0, 3));
  for made in
    select f.hash, f.kind, f.signature, f.definition
    from jsonb_to_recordset(functions)
      as f(hash text, kind text, signature text, definition text)
    where not exists (select from :"plans".plans as p where p.hash = f.hash)
    order by f.hash
  loop
    execute made.definition;
    execute 'revoke execute on function ' || made.signature || ' from public';
    execute 'grant execute on function ' || made.signature || ' to ' || caller;
    insert into :"plans".plans (hash, kind, signature)
      values (made.hash, made.kind, made.signature);
  end loop;
end
$$
