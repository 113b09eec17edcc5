-- Makes the functions of a schema version that is there, and says what can be asked and written under it. Returns
-- false, and does nothing, when some of `hashes` have no function and are not in the list.
create or replace function :"plans".sync_version(
  tenant_number bigint, version text,
  fingerprint text, questions jsonb, names jsonb, hashes text[], functions jsonb
)
returns boolean
language plpgsql volatile
as $$
begin
  perform pg_advisory_xact_lock_shared(:"tables".lock_key(0::bigint, 2));
  perform :"plans".make_functions(functions);
  if exists (select from :"plans".missing_functions(hashes)) then
    return false;
  end if;
  -- A lock as a schema write takes it: of two sessions that sync one version, one waits.
  perform from :"tables".tenants as t where t.number = tenant_number for no key update;
  if found then
    perform :"plans".put_questions(tenant_number, version, fingerprint, questions);
    perform :"plans".put_names(tenant_number, version, names);
  end if;
  return true;
end
$$
