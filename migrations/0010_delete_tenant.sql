-- Up Migration

-- Frees the id of a tenant once everybody who is writing into it is done; its rows are left to be
-- removed in batches. Returns whether there was such a tenant.
create function delete_tenant(tenant_id text) returns boolean
language plpgsql volatile
as $$
declare
  number_here bigint;
begin
  loop
    select number into number_here from tenants where id = tenant_id;
    if not found then
      return false;
    end if;
    perform pg_advisory_xact_lock(lock_key(number_here, 0));
    -- Somebody else may have deleted it while this waited, and somebody made it anew.
    delete from tenants where number = number_here;
    exit when found;
  end loop;
  insert into removed_tenants (number) values (number_here);
  return true;
end
$$;

-- Down Migration

drop function delete_tenant(text);
