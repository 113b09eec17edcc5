-- Up Migration

-- Makes a text the head of the tenant's schema. With `base`, only when that is still the head.
-- Outcomes: `written`, `no_tenant`, `other_head`, and `behind` when `new_version` does not come
-- after the head; `head` is the head as it was found. Writers of one tenant wait for each other.
create function write_schema(tenant_id text, new_version text, new_text text, base text)
returns table (outcome text, head text)
language plpgsql volatile
as $$
#variable_conflict use_column
declare
  number_here bigint;
begin
  select tenants.number, tenants.head_version into number_here, head
    from tenants where tenants.id = tenant_id
    for no key update;
  if not found then
    outcome := 'no_tenant';
  elsif base is not null and head is distinct from base then
    outcome := 'other_head';
  elsif head is not null and new_version collate "C" <= head then
    outcome := 'behind';
  else
    insert into schemas (tenant, version, text) values (number_here, new_version, new_text);
    update tenants set head_version = new_version where number = number_here;
    outcome := 'written';
  end if;
  return next;
end
$$;

-- Down Migration

drop function write_schema(text, text, text, text);
