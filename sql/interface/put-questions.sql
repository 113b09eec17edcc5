-- Says what can be asked under a schema version, in place of what was said before.
create or replace function :"plans".put_questions(
  tenant_number bigint, version text, fingerprint text, questions jsonb
)
returns void
language plpgsql volatile
set search_path to pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  insert into :"plans".versions as v (tenant, version, fingerprint)
    values (tenant_number, put_questions.version, put_questions.fingerprint)
    on conflict (tenant, version) do update set fingerprint = excluded.fingerprint;
  delete from :"plans".questions as q
    where q.tenant = tenant_number and q.version = put_questions.version;
  insert into :"plans".questions (
    tenant, version, entity_type, permission, subject_type, subject_relation, plans, obstacle
  )
    select tenant_number, put_questions.version, n.entity_type, n.permission, n.subject_type,
      n.subject_relation, n.plans, n.obstacle
    from jsonb_to_recordset(questions) as n(
      entity_type text, permission text, subject_type text, subject_relation text,
      plans jsonb, obstacle text
    );
end
$$
