-- Notes a plan function that this session made. No role but its owner can call it then, and the owner
-- of the functions that applications call, who may be another one.
create or replace function :"plans".keep_function(hash text, kind text, signature text) returns void
language plpgsql volatile
set search_path to pg_catalog, pg_temp
as $$
#variable_conflict use_variable
declare
  caller text := (
    select c.proowner::regrole::text
    from pg_catalog.pg_proc as c
    where c.pronamespace = to_regnamespace(quote_ident(:'entry'))
      and c.proname = 'may'
      and oidvectortypes(c.proargtypes) = 'text, text, text, text, text, text, text'
  );
begin
  execute 'revoke execute on function ' || signature || ' from public';
  execute 'grant execute on function ' || signature || ' to ' || caller;
  -- A function that a migration makes again is as new to the collector as any.
  insert into :"plans".plans as p (hash, kind, signature)
    values (keep_function.hash, keep_function.kind, keep_function.signature)
    on conflict on constraint plans_pkey do update set made_at = now();
end
$$
