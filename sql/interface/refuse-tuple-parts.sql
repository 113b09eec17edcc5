-- Fails with PB005 when a part of some tuples is no name or id. `given` are their texts; null: none.
create or replace function :"plans".refuse_tuple_parts(
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
  select coalesce(jsonb_agg(f.fault order by f.place), '[]')
    into faults
    from (
      select w.place,
        jsonb_build_object(
          'code', 'VALIDATION',
          'field', format('tuples[%s]', w.place - 1)
            || case when t.problem is null then '.' || p.field else '' end,
          'message', coalesce(t.problem, p.problem)
        ) as fault
      from unnest(
        entity_types, entity_ids, relations, subject_types, subject_ids, subject_relations
      ) with ordinality as w(
        entity_type, entity_id, relation, subject_type, subject_id, subject_relation, place
      )
      cross join lateral (
        select case
          when given is not null and w.entity_type is null then :"plans".text_fault(given[w.place])
        end as problem
      ) as t
      cross join lateral :"plans".tuple_part_fault(
        w.entity_type, w.entity_id, w.relation, w.subject_type, w.subject_id, w.subject_relation
      ) as p
      where t.problem is not null or p.problem is not null
      order by w.place
      limit faults_max
    ) as f;
  if faults <> '[]' then
    perform :"plans".refuse_data(faults, null);
  end if;
end
$$
