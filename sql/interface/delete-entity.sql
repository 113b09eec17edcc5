-- Deletes all tuples of an entity, those in which it is the subject, and its attributes, in the
-- transaction of the caller, except for what maps derive. Returns how many there were.
create or replace function :"entry".delete_entity(tenant text, entity_type text, entity_id text)
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
  field text := 'entity_type';
  problem text := :"plans".part_fault(entity_type collate "C", true);
  next_ordinal integer;
begin
  place := :"plans".begin_write(tenant collate "C");
  if problem is null then
    field := 'entity_id';
    problem := :"plans".part_fault(entity_id collate "C", false);
  end if;
  if problem is not null then
    perform :"plans".refuse_data(
      jsonb_build_array(
        jsonb_build_object('code', 'VALIDATION', 'field', field, 'message', problem)
      ),
      null
    );
  end if;
  next_ordinal := :"tables".delete_tuples(
    place.tenant_number, place.next_ordinal, entity_type collate "C", array[entity_id],
    '', '', array[]::text[], ''
  );
  next_ordinal := :"tables".delete_tuples(
    place.tenant_number, next_ordinal, '', array[]::text[], '',
    entity_type collate "C", array[entity_id], ''
  );
  return :"tables".delete_attributes(
    place.tenant_number, next_ordinal, entity_type collate "C", array[entity_id], array[]::text[]
  ) - place.next_ordinal;
end
$$
