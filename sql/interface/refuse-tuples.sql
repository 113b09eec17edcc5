-- Fails with PB005: tuples do not fit a schema version. As over REST, the faults are those of names and
-- ids if there are any, else those of the schema. `given` are the texts; null: none.
create or replace function :"plans".refuse_tuples(
  tenant_number bigint, head text,
  entity_types text[], entity_ids text[], relations text[],
  subject_types text[], subject_ids text[], subject_relations text[], given text[] default null
)
returns void
language plpgsql volatile
set search_path to pg_catalog, pg_temp
as $$
declare
  faults_max constant integer := 100;
  faults jsonb;
begin
  perform :"plans".refuse_tuple_parts(
    entity_types, entity_ids, relations, subject_types, subject_ids, subject_relations, given
  );
  select coalesce(jsonb_agg(f.fault order by f.place), '[]')
    into faults
    from (
      select w.place,
        jsonb_set(p.fault, '{field}', to_jsonb(format('tuples[%s].', w.place - 1)
          || (p.fault ->> 'field'))) as fault
      from unnest(
        entity_types, entity_ids, relations, subject_types, subject_ids, subject_relations
      ) with ordinality as w(
        entity_type, entity_id, relation, subject_type, subject_id, subject_relation, place
      )
      cross join lateral :"plans".tuple_fault(
        tenant_number, head, w.entity_type, w.entity_id, w.relation,
        w.subject_type, w.subject_id, w.subject_relation
      ) as p(fault)
      where p.fault is not null
      order by w.place
      limit faults_max
    ) as f;
  perform :"plans".refuse_data(faults, head);
end
$$
