-- Deletes all that a map derives, of all tenants, in the transaction that empties its table.
create or replace function :"entry".delete_all_derived(map text) returns void
language plpgsql volatile security definer
set search_path to pg_catalog, pg_temp
as $$
declare
  batch record;
begin
  -- A tenant that is hidden for a move may come back with what the rows gave, so it is refused.
  perform :"plans".begin_write(p.id)
    from :"tables".departures as p
    where p.hidden is not null
      and exists (
        select from :"tables".derived as d
        where d.map = delete_all_derived.map and d.tenant in ('', p.id)
      );
  for batch in
    select r.tenant_id, r.entity_type, array_agg(r.entity_id) as entity_ids,
      array_agg(r.relation) as relations, array_agg(r.subject_type) as subject_types,
      array_agg(r.subject_id) as subject_ids, array_agg(r.subject_relation) as subject_relations
    from (
      select t.id as tenant_id, s.*, row_number() over () / 10000 as part
      from :"tables".derived as d
      join :"tables".relationships as s
        on s.entity_type = d.entity_type
        and s.relation = d.relation
        and s.subject_type = d.subject_type
        and s.subject_relation = d.subject_relation
      join :"tables".tenants as t on t.number = s.tenant and d.tenant in ('', t.id)
      where d.map = delete_all_derived.map and d.attribute = ''
    ) as r
    group by r.tenant_id, r.entity_type, r.part
  loop
    perform :"entry".delete_derived_tuples(
      map, batch.tenant_id, batch.entity_type, batch.entity_ids, batch.relations,
      batch.subject_types, batch.subject_ids, batch.subject_relations
    );
  end loop;
  for batch in
    select r.tenant_id, r.entity_type, array_agg(r.entity_id) as entity_ids,
      array_agg(r.attribute) as names
    from (
      select t.id as tenant_id, s.*, row_number() over () / 10000 as part
      from :"tables".derived as d
      join :"tables".attributes as s
        on s.entity_type = d.entity_type and s.attribute = d.attribute
      join :"tables".tenants as t on t.number = s.tenant and d.tenant in ('', t.id)
      where d.map = delete_all_derived.map and d.attribute <> ''
    ) as r
    group by r.tenant_id, r.entity_type, r.part
  loop
    perform :"entry".delete_derived_attributes(
      map, batch.tenant_id, batch.entity_type, batch.entity_ids, batch.names
    );
  end loop;
end
$$
