-- Up Migration

-- Tenants that move from one cluster to another (docs/decisions/0024-moves.md). Every database has the
-- three tables. `moves` is used in that of the directory, `departures` at the source, `arrivals` at the
-- target. Each row names the process that moves the tenant. A statement of another process does nothing.
create table moves (
  tenant text collate "C" primary key,
  -- The names of two clusters.
  source text collate "C" not null,
  target text collate "C" not null,
  -- `copying`; `stopping` while the source refuses the tenant; `switched` when the target has all of it;
  -- `removing` when only rows of the source are left.
  step text collate "C" not null default 'copying',
  mover uuid not null,
  -- When the process was seen last. Another one goes on with the move of a process that is gone.
  seen_at timestamptz not null default now()
);

create table departures (
  -- The tenant at the source.
  number bigint primary key,
  id text collate "C" not null unique,
  mover uuid not null,
  -- The row of `tenants` as json, while the source refuses the tenant. Null: the tenant is served.
  hidden jsonb
);

create table arrivals (
  -- The tenant at the target. No row of `tenants` has the number until the tenant is served there.
  number bigint primary key,
  id text collate "C" not null unique,
  mover uuid not null,
  -- What has been copied so far. Null: nothing.
  progress jsonb
);

-- Returns a number that tells this tuple from others. It is the same on every server. Such numbers are
-- added, so that rows can be compared in any order.
create function tuple_digest(
  entity_type text, entity_id text, relation text, subject_type text, subject_id text,
  subject_relation text
)
returns bigint
language sql immutable parallel safe
as $$
  select ('x' || left(md5(concat_ws(
    E'\x1f', entity_type, entity_id, relation, subject_type, subject_id, subject_relation
  )), 16))::bit(64)::bigint
$$;

-- The same of an attribute with its value.
create function attribute_digest(
  entity_type text, entity_id text, attribute text, value_type text, value jsonb
)
returns bigint
language sql immutable parallel safe
as $$
  select ('x' || left(md5(concat_ws(
    E'\x1f', entity_type, entity_id, attribute, value_type, value::text
  )), 16))::bit(64)::bigint
$$;

-- Has the source refuse a tenant that moves, after every transaction of the service that writes its data
-- has ended. Returns `hidden`; `gone` if the tenant was deleted, or the move belongs to another process; `busy`
-- if a transaction did not end within the `lock_timeout`.
-- Locks: the advisory lock of the tenant, exclusively, then its rows in `departures` and `tenants`; all
-- until the transaction ends.
create function hide_tenant(tenant_number bigint, by_mover uuid) returns text
language plpgsql volatile
as $$
declare
  known jsonb;
begin
  begin
    perform pg_advisory_xact_lock(lock_key(tenant_number, 0));
    select departures.hidden into known
      from departures
      where departures.number = tenant_number and departures.mover = by_mover
      for update;
    if not found then
      return 'gone';
    end if;
    if known is not null then
      return 'hidden';
    end if;
    delete from tenants where tenants.number = tenant_number
      returning jsonb_build_object(
        'name', name, 'created_at', created_at, 'head_version', head_version,
        'created_xid', created_xid::text
      ) into known;
    if not found then
      return 'gone';
    end if;
    update departures set hidden = known where departures.number = tenant_number;
    return 'hidden';
  exception when lock_not_available then
    return 'busy';
  end;
end
$$;

-- Has the source serve a tenant again that it has refused for a move. Returns whether it serves it.
-- Locks: the row of the tenant in `departures`, until the transaction ends.
create function show_tenant(tenant_number bigint, by_mover uuid) returns boolean
language plpgsql volatile
as $$
declare
  here departures;
begin
  select * into here
    from departures
    where departures.number = tenant_number and departures.mover = by_mover
    for update;
  if not found then
    return false;
  end if;
  if here.hidden is not null then
    insert into tenants (number, id, name, created_at, head_version, created_xid)
      overriding system value
      values (
        here.number, here.id, here.hidden ->> 'name', (here.hidden ->> 'created_at')::timestamptz,
        here.hidden ->> 'head_version', (here.hidden ->> 'created_xid')::xid8
      );
    update departures set hidden = null where departures.number = tenant_number;
  end if;
  return exists (select from tenants where tenants.number = tenant_number);
end
$$;

-- Notes that a tenant is to arrive here, or that another process goes on with that. Returns the number that
-- the tenant has here. It is that of a row that is gone when the transaction ends, so it is never given
-- out again.
-- Locks: the row of the tenant in `arrivals`, until the transaction ends.
create function expect_tenant(tenant_id text, by_mover uuid) returns bigint
language plpgsql volatile
as $$
declare
  number_here bigint;
begin
  update arrivals set mover = by_mover where arrivals.id = tenant_id
    returning arrivals.number into number_here;
  if found then
    return number_here;
  end if;
  insert into tenants (id, name) values (gen_random_uuid()::text, '')
    returning tenants.number into number_here;
  delete from tenants where tenants.number = number_here;
  insert into arrivals (number, id, mover) values (number_here, tenant_id, by_mover);
  return number_here;
end
$$;

-- Has the target serve a tenant that has arrived, as `made` says: `name`, `created_at`, `head_version`.
-- Returns whether it serves it, perhaps since before.
-- Locks: the row of the tenant in `arrivals`, until the transaction ends.
create function receive_tenant(tenant_id text, by_mover uuid, made jsonb) returns boolean
language plpgsql volatile
as $$
declare
  number_here bigint;
begin
  delete from arrivals where arrivals.id = tenant_id and arrivals.mover = by_mover
    returning arrivals.number into number_here;
  if found then
    insert into tenants (number, id, name, created_at, head_version)
      overriding system value
      values (
        number_here, tenant_id, made ->> 'name', (made ->> 'created_at')::timestamptz,
        made ->> 'head_version'
      );
  end if;
  return exists (select from tenants where tenants.id = tenant_id);
end
$$;

revoke execute on function
  tuple_digest, attribute_digest, hide_tenant, show_tenant, expect_tenant, receive_tenant
from public;
