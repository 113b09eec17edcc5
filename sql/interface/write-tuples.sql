-- Creates tuples, given in text notation, in the transaction of the caller. Returns how many were not
-- there yet.
create or replace function :"entry".write_tuples(tenant text, tuples text[]) returns integer
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
  fitting integer := 0;
begin
  place := :"plans".begin_write(tenant collate "C");
  parts := :"plans".read_tuples(tuples collate "C");
  if parts.are_readable then
    select count(*)
      into fitting
      from unnest(
        parts.entity_types, parts.entity_ids, parts.relations,
        parts.subject_types, parts.subject_ids, parts.subject_relations
      ) as w(entity_type, entity_id, relation, subject_type, subject_id, subject_relation)
      join :"plans".names as n
        on n.tenant = place.tenant_number
        and n.version = place.head
        and n.entity_type = w.entity_type
        and n.name = w.relation
        and n.subject_type = w.subject_type
        and n.subject_relation = w.subject_relation
      where (w.entity_type, w.entity_id, w.relation)
        <> (w.subject_type, w.subject_id, w.subject_relation);
  end if;
  if fitting < cardinality(tuples) then
    perform :"plans".refuse_tuples(
      place.tenant_number, place.head, parts.entity_types, parts.entity_ids, parts.relations,
      parts.subject_types, parts.subject_ids, parts.subject_relations, tuples collate "C"
    );
  end if;
  if cardinality(tuples) = 0 then
    return 0;
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
  return :"tables".create_tuples(
    place.tenant_number, place.next_ordinal, parts.entity_types, parts.entity_ids,
    parts.relations, parts.subject_types, parts.subject_ids, parts.subject_relations
  ) - place.next_ordinal;
end
$$
