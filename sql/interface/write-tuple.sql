-- Creates a tuple in the transaction of the caller. Returns false when it is there already.
create or replace function :"entry".write_tuple(
  tenant text, entity_type text, entity_id text, relation text,
  subject_type text, subject_id text, subject_relation text default ''
)
returns boolean
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
  own_relation constant text collate "C" := coalesce(nullif(subject_relation collate "C", '...'), '');
begin
  place := :"plans".begin_write(tenant collate "C");
  if not coalesce(
    (
      entity_id collate "C" ~ '^[a-zA-Z0-9_@.:+-]+$' and octet_length(entity_id) <= 128
      or entity_id collate "C" = '*'
    )
    and (
      subject_id collate "C" ~ '^[a-zA-Z0-9_@.:+-]+$' and octet_length(subject_id) <= 128
      or subject_id collate "C" = '*'
    )
    and (entity_type collate "C", entity_id collate "C", relation collate "C")
      <> (subject_type, subject_id, own_relation)
    and relation <> '',
    false
  )
  or not exists (
    select
    from :"plans".names as n
    where n.tenant = place.tenant_number
      and n.version = place.head
      and n.entity_type = write_tuple.entity_type collate "C"
      and n.name = write_tuple.relation collate "C"
      and n.subject_type = write_tuple.subject_type collate "C"
      and n.subject_relation = own_relation
      and n.value_type = ''
  ) then
    perform :"plans".refuse_tuples(
      place.tenant_number, place.head, array[entity_type collate "C"], array[entity_id],
      array[relation], array[subject_type], array[subject_id], array[own_relation]
    );
  end if;
  if :"tables".may_derive() then
    perform :"plans".refuse_derived_elements(
      tenant collate "C", 'tuples', 'relation',
      array[
        :"tables".tuple_label(entity_type collate "C", relation, subject_type, own_relation)
      ]
    );
  end if;
  return :"tables".create_tuples(
    place.tenant_number, place.next_ordinal, array[entity_type collate "C"], array[entity_id],
    array[relation], array[subject_type], array[subject_id], array[own_relation]
  ) > place.next_ordinal;
end
$$
