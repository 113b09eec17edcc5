-- Deletes attributes that the rows of a mapped table gave, in the transaction that changes the rows.
-- Returns how many were there. A tenant that does not exist has none.
create or replace function :"entry".delete_derived_attributes(
  map text, tenant text, entity_type text, entity_ids text[], names text[]
)
returns integer
language plpgsql volatile security definer
set search_path to pg_catalog, pg_temp
set plan_cache_mode to force_generic_plan
set jit to off
set enable_seqscan to off
set enable_bitmapscan to off
set enable_hashjoin to off
set enable_mergejoin to off
as $$
declare
  place record;
begin
  -- One that is hidden for a move may come back with what the rows gave, so it is refused below.
  if not exists (
    select from :"tables".tenants as t where t.id = delete_derived_attributes.tenant collate "C"
  ) and not exists (
    select from :"tables".departures as d
    where d.id = delete_derived_attributes.tenant collate "C" and d.hidden is not null
  ) then
    return 0;
  end if;
  place := :"plans".begin_write(tenant collate "C");
  return :"tables".delete_listed_attributes(
    place.tenant_number, place.next_ordinal, array_fill(entity_type, array[cardinality(entity_ids)]),
    entity_ids, names
  ) - place.next_ordinal;
end
$$
