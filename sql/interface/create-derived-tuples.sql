-- Creates tuples that the rows of a mapped table give, in the transaction that changes the rows. Returns
-- how many were not there. `may_be_unfit`: the ids are texts of the application, or an entity may be its
-- own subject.
create or replace function :"entry".create_derived_tuples(
  map text, tenant text, entity_type text, entity_ids text[], relations text[],
  subject_types text[], subject_ids text[], subject_relations text[], may_be_unfit boolean
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
  next_ordinal integer;
begin
  place := :"plans".begin_write(tenant collate "C");
  -- Most statements change one row, and the functions for several tuples cost twice as much.
  if cardinality(entity_ids) <= 3 then
    next_ordinal := place.next_ordinal;
    for i in 1 .. cardinality(entity_ids) loop
      if may_be_unfit and (
        entity_ids[i] !~ '^[a-zA-Z0-9_@.:+-]+$' or octet_length(entity_ids[i]) > 128
        or subject_ids[i] !~ '^[a-zA-Z0-9_@.:+-]+$' or octet_length(subject_ids[i]) > 128
        or subject_ids[i] = entity_ids[i]
      ) then
        perform :"plans".refuse_unfit_rows(
          map, entity_type, entity_ids, relations, subject_types, subject_ids, subject_relations
        );
      end if;
      next_ordinal := :"tables".create_tuples(
        place.tenant_number, next_ordinal, array[entity_type], entity_ids[i:i], relations[i:i],
        subject_types[i:i], subject_ids[i:i], subject_relations[i:i]
      );
    end loop;
    return next_ordinal - place.next_ordinal;
  end if;
  if may_be_unfit then
    perform :"plans".refuse_unfit_rows(
      map, entity_type, entity_ids, relations, subject_types, subject_ids, subject_relations
    );
  end if;
  return :"tables".create_tuples(
    place.tenant_number, place.next_ordinal, array_fill(entity_type, array[cardinality(entity_ids)]),
    entity_ids, relations, subject_types, subject_ids, subject_relations
  ) - place.next_ordinal;
end
$$
