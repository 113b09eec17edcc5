-- Those of the hashes that have no plan function.
create or replace function :"plans".missing_functions(hashes text[]) returns setof text
language sql stable
set search_path to pg_catalog, pg_temp
as $$
  select h.hash
  from unnest(hashes) as h(hash)
  where not exists (
    select
    from :"plans".plans as p
    where p.hash = h.hash and to_regprocedure(p.signature) is not null
  )
$$
