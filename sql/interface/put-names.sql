-- Says what can be written under a schema version, in place of what was said before.
create or replace function :"plans".put_names(tenant_number bigint, version text, names jsonb)
returns void
language plpgsql volatile
set search_path to pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  delete from :"plans".names as n
    where n.tenant = tenant_number and n.version = put_names.version;
  insert into :"plans".names (
    tenant, version, entity_type, name, subject_type, subject_relation, value_type, place
  )
    select tenant_number, put_names.version, n.entity_type, n.name, n.subject_type,
      n.subject_relation, n.value_type, n.place
    from rows from (
      jsonb_to_recordset(names) as (
        entity_type text, name text, subject_type text, subject_relation text, value_type text
      )
    ) with ordinality as n(
      entity_type, name, subject_type, subject_relation, value_type, place
    );
end
$$
