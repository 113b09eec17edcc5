-- Sets attributes that the rows of a mapped table give, in the transaction that changes the rows. Values
-- are JSON as it is stored. Returns how many got another value. `may_be_unfit`: the ids are texts of the
-- application.
create or replace function :"entry".set_derived_attributes(
  map text, tenant text, entity_type text, entity_ids text[], names text[], value_types text[],
  new_values text[], may_be_unfit boolean
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
  none constant text[] := array_fill(null::text, array[cardinality(entity_ids)]);
  made integer;
begin
  place := :"plans".begin_write(tenant collate "C");
  if may_be_unfit then
    perform :"plans".refuse_unfit_rows(map, entity_type, entity_ids, names, none, none, none);
  end if;
  perform :"tables".set_attributes(
    place.tenant_number, place.next_ordinal, array_fill(entity_type, array[cardinality(entity_ids)]),
    entity_ids, names, value_types, new_values
  );
  select count(*)
    into made
    from :"tables".changes as c
    where c.tenant = place.tenant_number
      and c.xid = pg_current_xact_id()
      and c.ordinal >= place.next_ordinal
      and c.operation = 'create';
  return made;
end
$$
