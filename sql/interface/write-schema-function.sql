-- Makes a schema version the head as `write_schema` does, with the functions, questions and names that belong
-- to it, in one transaction. `outcome` can also be `missing_functions`: some of `hashes` have no
-- function, and are not in the list; then nothing was done.
create or replace function :"plans".write_schema(
  tenant_id text, new_version text, new_text text, base text,
  fingerprint text, questions jsonb, names jsonb, hashes text[], functions jsonb
)
returns table (outcome text, head text)
language plpgsql volatile
as $$
begin
  -- Until the end of the transaction no function is removed for want of a question.
  perform pg_advisory_xact_lock_shared(:"tables".lock_key(0::bigint, 2));
  perform :"plans".make_functions(functions);
  if exists (select from :"plans".missing_functions(hashes)) then
    outcome := 'missing_functions';
    return next;
    return;
  end if;
  select w.outcome, w.head into outcome, head
    from :"tables".write_schema(tenant_id, new_version, new_text, base) as w;
  if outcome = 'written' then
    perform :"plans".put_questions(t.number, new_version, fingerprint, questions),
        :"plans".put_names(t.number, new_version, names)
      from :"tables".tenants as t where t.id = tenant_id;
  end if;
  return next;
end
$$
