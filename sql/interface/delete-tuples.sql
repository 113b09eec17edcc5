-- Deletes tuples, given in text notation, in the transaction of the caller. Returns how many were there.
create or replace function :"entry".delete_tuples(tenant text, tuples text[]) returns integer
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
  parts record;
begin
  place := :"plans".begin_write(tenant collate "C");
  parts := :"plans".read_tuples(tuples collate "C");
  if cardinality(tuples) = 0 then
    return 0;
  end if;
  if not parts.are_readable then
    perform :"plans".refuse_tuple_parts(
      parts.entity_types, parts.entity_ids, parts.relations,
      parts.subject_types, parts.subject_ids, parts.subject_relations, tuples collate "C"
    );
  end if;
  if :"tables".may_derive() then
    perform :"plans".refuse_derived_elements(
      tenant collate "C", 'tuples', 'relation',
      array(
        select :"tables".tuple_label(
          w.entity_type, w.relation, w.subject_type, w.subject_relation
        )
        from unnest(
          parts.entity_types, parts.relations, parts.subject_types, parts.subject_relations
        ) with ordinality as w(entity_type, relation, subject_type, subject_relation, place)
        order by w.place
      )
    );
  end if;
  return :"tables".delete_listed_tuples(
    place.tenant_number, place.next_ordinal, parts.entity_types, parts.entity_ids,
    parts.relations, parts.subject_types, parts.subject_ids, parts.subject_relations
  ) - place.next_ordinal;
end
$$
