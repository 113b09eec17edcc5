-- Removes at most `at_most` plan functions that were made before a moment and that no question leads
-- to. Returns how many of them were looked at. Functions of other roles stay.
create or replace function :"plans".remove_functions(made_before timestamptz, at_most integer)
returns integer
language plpgsql volatile
set search_path to pg_catalog, pg_temp
as $$
declare
  hashes text[] := array(
    select p.hash
    from :"plans".plans as p
    where p.made_at < made_before
      and not exists (
        select from :"plans".questions as q where q.plans @> jsonb_build_object(p.kind, p.hash)
      )
      and coalesce(
        (
          select pg_has_role(f.proowner, 'usage')
          from pg_catalog.pg_proc as f
          where f.oid = to_regprocedure(p.signature)
        ),
        true
      )
    limit at_most
  );
  removed record;
begin
  if cardinality(hashes) = 0 then
    return 0;
  end if;
  -- What a schema write is about to use stays: the question that it adds is seen after this wait.
  perform pg_advisory_xact_lock(:"tables".lock_key(0::bigint, 2));
  for removed in
    delete from :"plans".plans as p
    where p.hash = any(hashes)
      and not exists (
        select from :"plans".questions as q where q.plans @> jsonb_build_object(p.kind, p.hash)
      )
    returning p.signature
  loop
    execute 'drop function if exists ' || removed.signature;
  end loop;
  return cardinality(hashes);
end
$$
