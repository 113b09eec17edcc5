-- Up Migration

-- Functions run with the rights of their caller.

-- The server and its timeline

-- Returns the last timeline that the data know of, or null when they know none: a standby cannot
-- tell which timeline it follows. Takes no lock.
create function standby_timeline() returns integer
language sql stable parallel safe
as $$
  select max(timelines.timeline)
  from timelines
  join installation on installation.system_identifier = timelines.system_identifier
$$;

-- Returns the timeline that the server writes now; of a standby, the last that its data know of.
-- The control file lags behind after a promotion, so the write-ahead log is asked. Takes no lock.
create function current_timeline() returns integer
language sql volatile parallel safe
as $$
  select case
    when pg_is_in_recovery() then standby_timeline()
    else ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::integer
  end
$$;

-- Records the first transaction id of a timeline, unless it is recorded. Returns nothing.
-- Locks: waits for another transaction that records the same timeline, if one does.
--
-- The lower end of the snapshot lies below the id of every transaction that may write at the same
-- time. The record must survive a crash of the server, also when `synchronous_commit` is off, since
-- instances that know that a timeline is recorded do not ask again.
create function record_timeline(here_system text, here_timeline integer) returns void
language plpgsql volatile
as $$
begin
  if not exists (
    select from timelines as known
    where known.system_identifier = here_system and known.timeline = here_timeline
  ) then
    insert into timelines (system_identifier, timeline, first_xid)
      values (here_system, here_timeline, pg_snapshot_xmin(pg_current_snapshot()))
      on conflict do nothing;
    perform set_config('synchronous_commit', 'on', true);
  end if;
end
$$;

-- Returns the timeline that the server writes now, after recording it when it is new.
-- Locks: those of `record_timeline`.
create function note_timeline() returns integer
language plpgsql volatile
as $$
declare
  timeline_here integer := current_timeline();
begin
  if not exists (
    select from installation
    join timelines using (system_identifier)
    where timelines.timeline = timeline_here
  ) then
    perform record_timeline(installation.system_identifier, timeline_here) from installation;
  end if;
  return timeline_here;
end
$$;

-- Returns the key of an advisory lock of a tenant: slot 0 is the tenant itself, slots 1 to 64 are
-- the stripes of its keys. No tenant has the number 0; its slot 0 is the installation. The constant
-- avoids the keys of other programs.
create function lock_key(tenant bigint, slot integer) returns bigint
language sql immutable parallel safe
as $$
  select 5793156763356233728 + tenant * 128 + slot
$$;

-- Called at each start. Returns whose tokens are good here: `identity` of the cluster and database,
-- and one row for each timeline that Pemba wrote, oldest first. It first brings the tables up to
-- date:
-- * A first start, or a new timeline, is recorded.
-- * In a copy (another cluster or another database) history is removed. Transaction ids of the
--   original mean nothing here and would look like the future. So tenants and live rows count as
--   always visible, and the log is emptied. Tokens of the original are refused, since their
--   identity differs.
--
-- Locks, in this order, until the transaction ends: the advisory lock of the installation,
-- exclusively, so that starts follow one another; in a copy also the rows of `tenants`,
-- `relationships` and `attributes`, and the tables `changes` and `timelines` exclusively.
create function open_installation()
returns table (identity text, timeline integer, first_xid xid8)
language plpgsql volatile
as $$
#variable_conflict use_column
declare
  here_system text;
  here_database oid := (select oid from pg_database where datname = current_database());
  here_timeline integer := current_timeline();
  moved boolean;
begin
  select control.system_identifier::text into here_system from pg_control_system() as control;
  perform pg_advisory_xact_lock(lock_key(0, 0));
  select system_identifier <> here_system or database_oid <> here_database
    into moved from installation;
  if moved is null then
    insert into installation (system_identifier, database_oid)
      values (here_system, here_database);
  elsif moved then
    update tenants set created_xid = '1' where created_xid <> '1';
    update relationships set created_xid = '1' where created_xid <> '1';
    update attributes set created_xid = '1' where created_xid <> '1';
    truncate changes;
    truncate timelines;
    update installation
      set system_identifier = here_system, database_oid = here_database, horizon = '0';
  end if;
  perform record_timeline(here_system, here_timeline);
  return query
    select here_system || '/' || here_database, timelines.timeline, timelines.first_xid
    from timelines
    where timelines.system_identifier = here_system
    order by timelines.timeline;
end
$$;

-- Locks

-- Returns the stripe of a tuple, 1 to 64: tuples with the same entity id, relation and subject id
-- share one. Every function that changes data uses it.
create function tuple_stripe(entity_id text, relation text, subject_id text) returns integer
language sql immutable parallel safe
as $$
  select 1 + (hashtextextended(entity_id || '#' || relation || '@' || subject_id, 0) & 63)::integer
$$;

-- Returns the stripe of an attribute, 1 to 64: attributes with the same entity id and name share
-- one.
create function attribute_stripe(entity_id text, attribute text) returns integer
language sql immutable parallel safe
as $$
  select 1 + (hashtextextended(entity_id || '$' || attribute, 0) & 63)::integer
$$;

-- Locks stripes of a tenant until the transaction ends. Returns nothing.
-- Locks: the advisory lock of each stripe, in ascending order, so that no two transactions wait for
-- each other. A stripe that is in both lists is locked exclusively.
create function lock_stripes(tenant_number bigint, shared integer[], exclusive integer[])
returns void
language plpgsql volatile
as $$
begin
  perform case
      when stripes.is_exclusive then pg_advisory_xact_lock(lock_key(tenant_number, stripes.slot))
      else pg_advisory_xact_lock_shared(lock_key(tenant_number, stripes.slot))
    end
  from (
    select slot, bool_or(is_exclusive) as is_exclusive
    from (
      select slot, false as is_exclusive from unnest(shared) as keys (slot)
      union all
      select slot, true from unnest(exclusive) as keys (slot)
    ) as keys
    group by slot
    order by slot
  ) as stripes;
end
$$;

-- Begins a change of a tenant's data, before the transaction has an id. Returns the number of the
-- tenant, or null when there is none.
-- Locks: the advisory lock of the tenant, until the transaction ends. The exclusive lock keeps all
-- other writers of the tenant out; writers that lock stripes next share it.
-- Errors: raises an exception when the isolation level is not read committed.
create function lock_tenant(tenant_id text, is_exclusive boolean) returns bigint
language plpgsql volatile
as $$
declare
  number_here bigint;
begin
  if current_setting('transaction_isolation') <> 'read committed' then
    raise exception 'a write needs the isolation level read committed, not %',
      current_setting('transaction_isolation');
  end if;
  loop
    select tenants.number into number_here from tenants where tenants.id = tenant_id;
    if not found then
      return null;
    end if;
    if is_exclusive then
      perform pg_advisory_xact_lock(lock_key(number_here, 0));
    else
      perform pg_advisory_xact_lock_shared(lock_key(number_here, 0));
    end if;
    -- The tenant may have been deleted while this waited for its lock.
    exit when exists (select from tenants where tenants.number = number_here);
  end loop;
  return number_here;
end
$$;

-- Tenants and schemas

-- Makes a text the head of the tenant's schema; with `base`, only when `base` is still the head.
-- Returns one row. `outcome` is `written`, `no_tenant`, `other_head`, or `behind` when
-- `new_version` does not come after the head; `head` is the head before the call.
-- Locks: the row of the tenant, until the transaction ends, so that writers of one tenant's schema
-- follow one another.
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

-- Deletes a tenant and frees its id, after every transaction that writes its data has ended. The
-- rows of the tenant stay and are removed in batches later. Returns whether there was such a
-- tenant.
-- Locks: the advisory lock of the tenant, exclusively, then its row; both until the transaction
-- ends.
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
    -- While this waited, another transaction may have deleted the tenant, and a third made it anew.
    delete from tenants where number = number_here;
    exit when found;
  end loop;
  insert into removed_tenants (number) values (number_here);
  return true;
end
$$;

-- Changes of tuples and attributes. The caller holds the locks of the keys, and `changes` gets a
-- line for each change, with ordinals from `first_ordinal` on. Each function returns the next free
-- ordinal.

-- Returns what the change of an attribute takes of a message, in bytes.
create function logged_bytes(entity_id text, value jsonb) returns integer
language sql immutable parallel safe
as $$
  select octet_length(entity_id) + octet_length(value::text)
$$;

-- Creates the tuples that are not there yet, and logs them.
-- Locks: the rows it creates, in the order of their keys. It waits for another transaction that
-- creates the same tuple; the order keeps two such transactions from waiting for each other.
create function create_tuples(
  tenant_number bigint,
  first_ordinal integer,
  entity_types text[],
  entity_ids text[],
  relations text[],
  subject_types text[],
  subject_ids text[],
  subject_relations text[]
)
returns integer
language plpgsql volatile
as $$
#variable_conflict use_column
declare
  logged integer;
begin
  if cardinality(entity_types) = 0 then
    return first_ordinal;
  end if;

  -- Most writes are of one tuple. The statements for several cost twice as much.
  if cardinality(entity_types) = 1 then
    insert into relationships (
      tenant, entity_type, entity_id, relation, subject_type, subject_id, subject_relation,
      created_xid
    )
    values (
      tenant_number, entity_types[1], entity_ids[1], relations[1], subject_types[1],
      subject_ids[1], subject_relations[1], pg_current_xact_id()
    )
    on conflict do nothing;
    if not found then
      return first_ordinal;
    end if;
    insert into changes (
      tenant, xid, ordinal, operation, entity_type, entity_id, relation, subject_type, subject_id,
      subject_relation
    )
    values (
      tenant_number, pg_current_xact_id(), first_ordinal, 'create', entity_types[1],
      entity_ids[1], relations[1], subject_types[1], subject_ids[1], subject_relations[1]
    );
    return first_ordinal + 1;
  end if;

  -- Insert without looking first: to look at each tuple costs a third of the whole. If one of them
  -- is there already, the block is undone and leaves dead rows: those inserted before that one.
  begin
    insert into relationships (
      tenant, entity_type, entity_id, relation, subject_type, subject_id, subject_relation,
      created_xid
    )
    select tenant_number, entity_type, entity_id, relation, subject_type, subject_id,
      subject_relation, pg_current_xact_id()
    from unnest(
      entity_types, entity_ids, relations, subject_types, subject_ids, subject_relations
    ) as wanted (entity_type, entity_id, relation, subject_type, subject_id, subject_relation)
    order by entity_id collate "C", relation collate "C", entity_type collate "C",
      subject_type collate "C", subject_relation collate "C", subject_id collate "C";
    insert into changes (
      tenant, xid, ordinal, operation, entity_type, entity_id, relation, subject_type, subject_id,
      subject_relation
    )
    select tenant_number, pg_current_xact_id(), first_ordinal - 1 + position, 'create',
      entity_type, entity_id, relation, subject_type, subject_id, subject_relation
    from unnest(
      entity_types, entity_ids, relations, subject_types, subject_ids, subject_relations
    ) with ordinality as created (
      entity_type, entity_id, relation, subject_type, subject_id, subject_relation, position
    );
    return first_ordinal + cardinality(entity_types);
  exception when unique_violation then
    null;
  end;

  with created as (
    insert into relationships (
      tenant, entity_type, entity_id, relation, subject_type, subject_id, subject_relation,
      created_xid
    )
    select tenant_number, entity_type, entity_id, relation, subject_type, subject_id,
      subject_relation, pg_current_xact_id()
    from unnest(
      entity_types, entity_ids, relations, subject_types, subject_ids, subject_relations
    ) as wanted (entity_type, entity_id, relation, subject_type, subject_id, subject_relation)
    order by entity_id collate "C", relation collate "C", entity_type collate "C",
      subject_type collate "C", subject_relation collate "C", subject_id collate "C"
    on conflict do nothing
    returning entity_type, entity_id, relation, subject_type, subject_id, subject_relation,
      created_xid
  )
  insert into changes (
    tenant, xid, ordinal, operation, entity_type, entity_id, relation, subject_type, subject_id,
    subject_relation
  )
  select tenant_number, created_xid, first_ordinal - 1 + row_number() over (), 'create',
    entity_type, entity_id, relation, subject_type, subject_id, subject_relation
  from created;
  get diagnostics logged = row_count;
  return first_ordinal + logged;
end
$$;

-- Sets attributes, and logs those whose value or type changes: an overwritten one as a delete and a
-- create. Each key stands in the lists once.
-- Locks: the rows it changes. The caller holds the exclusive locks of the keys, so it waits for
-- none.
create function set_attributes(
  tenant_number bigint,
  first_ordinal integer,
  entity_types text[],
  entity_ids text[],
  names text[],
  value_types text[],
  new_values text[]
)
returns integer
language plpgsql volatile
as $$
#variable_conflict use_column
declare
  logged integer;
  next_ordinal integer := first_ordinal;
begin
  if cardinality(entity_types) = 0 then
    return first_ordinal;
  end if;
  with wanted as (
    select entity_type, entity_id, attribute, value_type, value::jsonb as value
    from unnest(entity_types, entity_ids, names, value_types, new_values)
      as wanted (entity_type, entity_id, attribute, value_type, value)
  ),
  overwritten as (
    update attributes as stored
    set value_type = wanted.value_type, value = wanted.value, created_xid = pg_current_xact_id()
    from wanted
    join attributes as former
      on former.entity_id = wanted.entity_id
      and former.attribute = wanted.attribute
      and former.entity_type = wanted.entity_type
      and former.tenant = tenant_number
      and (former.value_type, former.value) is distinct from (wanted.value_type, wanted.value)
    where stored.entity_id = wanted.entity_id
      and stored.attribute = wanted.attribute
      and stored.entity_type = wanted.entity_type
      and stored.tenant = tenant_number
    returning stored.entity_type, stored.entity_id, stored.attribute, stored.value_type,
      stored.value, stored.created_xid, former.value_type as former_value_type,
      former.value as former_value, former.created_xid as former_created_xid
  ),
  numbered as (
    select overwritten.*, first_ordinal + 2 * (row_number() over () - 1) as position
    from overwritten
  )
  insert into changes (
    tenant, xid, ordinal, operation, entity_type, entity_id, attribute, value_type, value,
    created_xid, bytes
  )
  select tenant_number, created_xid, position, 'delete', entity_type, entity_id, attribute,
    former_value_type, former_value, former_created_xid, logged_bytes(entity_id, former_value)
  from numbered
  union all
  select tenant_number, created_xid, position + 1, 'create', entity_type, entity_id, attribute,
    value_type, value, null, logged_bytes(entity_id, value)
  from numbered;
  get diagnostics logged = row_count;
  next_ordinal := next_ordinal + logged;

  with created as (
    insert into attributes (
      tenant, entity_type, entity_id, attribute, value_type, value, created_xid
    )
    select tenant_number, entity_type, entity_id, attribute, value_type, value::jsonb,
      pg_current_xact_id()
    from unnest(entity_types, entity_ids, names, value_types, new_values)
      as wanted (entity_type, entity_id, attribute, value_type, value)
    order by entity_id collate "C", attribute collate "C", entity_type collate "C"
    on conflict do nothing
    returning entity_type, entity_id, attribute, value_type, value, created_xid
  )
  insert into changes (
    tenant, xid, ordinal, operation, entity_type, entity_id, attribute, value_type, value, bytes
  )
  select tenant_number, created_xid, next_ordinal - 1 + row_number() over (), 'create',
    entity_type, entity_id, attribute, value_type, value, logged_bytes(entity_id, value)
  from created;
  get diagnostics logged = row_count;
  return next_ordinal + logged;
end
$$;

-- Deletes the tuples that a filter lets through, and logs them. An empty text or list of the filter
-- lets everything through.
-- Locks: the rows it deletes. The caller holds the exclusive locks of the keys, or of the tenant.
--
-- Each run is planned with its values, since the index that serves depends on which values are
-- given.
create function delete_tuples(
  tenant_number bigint,
  first_ordinal integer,
  wanted_entity_type text,
  wanted_entity_ids text[],
  wanted_relation text,
  wanted_subject_type text,
  wanted_subject_ids text[],
  wanted_subject_relation text
)
returns integer
language plpgsql volatile
set plan_cache_mode = force_custom_plan
set enable_seqscan = off
as $$
#variable_conflict use_column
declare
  logged integer;
begin
  if cardinality(wanted_entity_ids) = 0 and cardinality(wanted_subject_ids) = 0 then
    -- No index begins with a type or a relation, so a scan of the table is cheaper.
    perform set_config('enable_seqscan', 'on', true);
  end if;
  with deleted as (
    delete from relationships
    where tenant = tenant_number
      and (wanted_entity_type = '' or entity_type = wanted_entity_type)
      and (cardinality(wanted_entity_ids) = 0 or entity_id = any(wanted_entity_ids))
      and (wanted_relation = '' or relation = wanted_relation)
      and (wanted_subject_type = '' or subject_type = wanted_subject_type)
      and (cardinality(wanted_subject_ids) = 0 or subject_id = any(wanted_subject_ids))
      and (wanted_subject_relation = '' or subject_relation = wanted_subject_relation)
    returning entity_type, entity_id, relation, subject_type, subject_id, subject_relation,
      created_xid
  )
  insert into changes (
    tenant, xid, ordinal, operation, entity_type, entity_id, relation, subject_type, subject_id,
    subject_relation, created_xid
  )
  select tenant_number, pg_current_xact_id(), first_ordinal - 1 + row_number() over (), 'delete',
    entity_type, entity_id, relation, subject_type, subject_id, subject_relation, created_xid
  from deleted;
  get diagnostics logged = row_count;
  return first_ordinal + logged;
end
$$;

-- Deletes the attributes that a filter lets through, and logs them. An empty text or list of the
-- filter lets everything through.
-- Locks, and how it is planned: as `delete_tuples`.
create function delete_attributes(
  tenant_number bigint,
  first_ordinal integer,
  wanted_entity_type text,
  wanted_entity_ids text[],
  wanted_names text[]
)
returns integer
language plpgsql volatile
set plan_cache_mode = force_custom_plan
set enable_seqscan = off
as $$
#variable_conflict use_column
declare
  logged integer;
begin
  if cardinality(wanted_entity_ids) = 0 then
    perform set_config('enable_seqscan', 'on', true);
  end if;
  with deleted as (
    delete from attributes
    where tenant = tenant_number
      and (wanted_entity_type = '' or entity_type = wanted_entity_type)
      and (cardinality(wanted_entity_ids) = 0 or entity_id = any(wanted_entity_ids))
      and (cardinality(wanted_names) = 0 or attribute = any(wanted_names))
    returning entity_type, entity_id, attribute, value_type, value, created_xid
  )
  insert into changes (
    tenant, xid, ordinal, operation, entity_type, entity_id, attribute, value_type, value,
    created_xid, bytes
  )
  select tenant_number, pg_current_xact_id(), first_ordinal - 1 + row_number() over (), 'delete',
    entity_type, entity_id, attribute, value_type, value, created_xid,
    logged_bytes(entity_id, value)
  from deleted;
  get diagnostics logged = row_count;
  return first_ordinal + logged;
end
$$;

-- Deletes the listed tuples that are there, and logs them.
-- Locks: the rows it deletes. The caller holds the exclusive locks of the keys.
create function delete_listed_tuples(
  tenant_number bigint,
  first_ordinal integer,
  entity_types text[],
  entity_ids text[],
  relations text[],
  subject_types text[],
  subject_ids text[],
  subject_relations text[]
)
returns integer
language plpgsql volatile
as $$
#variable_conflict use_column
declare
  logged integer;
begin
  if cardinality(entity_types) = 0 then
    return first_ordinal;
  end if;
  with deleted as (
    delete from relationships as stored
    using unnest(
      entity_types, entity_ids, relations, subject_types, subject_ids, subject_relations
    ) as wanted (entity_type, entity_id, relation, subject_type, subject_id, subject_relation)
    where stored.entity_id = wanted.entity_id
      and stored.relation = wanted.relation
      and stored.entity_type = wanted.entity_type
      and stored.tenant = tenant_number
      and stored.subject_type = wanted.subject_type
      and stored.subject_relation = wanted.subject_relation
      and stored.subject_id = wanted.subject_id
    returning stored.*
  )
  insert into changes (
    tenant, xid, ordinal, operation, entity_type, entity_id, relation, subject_type, subject_id,
    subject_relation, created_xid
  )
  select tenant_number, pg_current_xact_id(), first_ordinal - 1 + row_number() over (), 'delete',
    entity_type, entity_id, relation, subject_type, subject_id, subject_relation, created_xid
  from deleted;
  get diagnostics logged = row_count;
  return first_ordinal + logged;
end
$$;

-- Deletes the listed attributes that are there, and logs them.
-- Locks: the rows it deletes. The caller holds the exclusive locks of the keys.
create function delete_listed_attributes(
  tenant_number bigint,
  first_ordinal integer,
  entity_types text[],
  entity_ids text[],
  names text[]
)
returns integer
language plpgsql volatile
as $$
#variable_conflict use_column
declare
  logged integer;
begin
  if cardinality(entity_types) = 0 then
    return first_ordinal;
  end if;
  with deleted as (
    delete from attributes as stored
    using unnest(entity_types, entity_ids, names) as wanted (entity_type, entity_id, attribute)
    where stored.entity_id = wanted.entity_id
      and stored.attribute = wanted.attribute
      and stored.entity_type = wanted.entity_type
      and stored.tenant = tenant_number
    returning stored.*
  )
  insert into changes (
    tenant, xid, ordinal, operation, entity_type, entity_id, attribute, value_type, value,
    created_xid, bytes
  )
  select tenant_number, pg_current_xact_id(), first_ordinal - 1 + row_number() over (), 'delete',
    entity_type, entity_id, attribute, value_type, value, created_xid,
    logged_bytes(entity_id, value)
  from deleted;
  get diagnostics logged = row_count;
  return first_ordinal + logged;
end
$$;

-- Writes. Each is one transaction, which the caller begins as read committed

-- Writes tuples and attributes of one tenant, all or none. The element lists are arrays of equal
-- length. With `pinned_version` that version must exist; without it the head must be
-- `expected_head`. `known_number` is the number that the tenant had when it was last seen, and
-- `known_timeline` a timeline that is recorded. Both save a query, and both may be wrong or null.
--
-- Returns one row. `outcome` is `written`, `no_tenant`, `no_version` or `other_head`; `number` and
-- `head` are the true ones. `snapshot`, `xid` (null when nothing changed) and `timeline` make up
-- the snap token.
-- Errors: raises an exception when the isolation level is not read committed.
--
-- The order of the steps matters. Each statement has a snapshot of its own.
-- 1. Locks, until the transaction ends: the advisory lock of the tenant, shared; then the stripes
--    of the keys in ascending order, shared for tuples and exclusive for attributes. They are taken
--    before the transaction has an id: so writers of the same key get their ids in the order in
--    which they change it, and the log can be replayed in the order of ids. Creates of tuples share
--    a stripe, since the second one changes nothing.
-- 2. Changes, in the order of their keys, so that creates never wait for each other in a circle.
-- 3. The snapshot. An insert that had to wait for another transaction's tuple returns when that one
--    is committed. An earlier snapshot would not show it.
create function write_data(
  tenant_id text,
  known_number bigint,
  known_timeline integer,
  pinned_version text,
  expected_head text,
  tuple_entity_types text[],
  tuple_entity_ids text[],
  tuple_relations text[],
  tuple_subject_types text[],
  tuple_subject_ids text[],
  tuple_subject_relations text[],
  attribute_entity_types text[],
  attribute_entity_ids text[],
  attribute_names text[],
  attribute_value_types text[],
  attribute_values text[]
)
returns table (
  outcome text, number bigint, head text, snapshot pg_snapshot, xid xid8, timeline integer
)
language plpgsql volatile
as $$
#variable_conflict use_column
declare
  number_here bigint := known_number;
  logged integer := 0;
  -- PL/pgSQL evaluates the assignment of an expression directly. `perform` would run a query.
  is_locked boolean;
begin
  if current_setting('transaction_isolation') <> 'read committed' then
    raise exception 'a write needs the isolation level read committed, not %',
      current_setting('transaction_isolation');
  end if;

  if number_here is null then
    select tenants.number into number_here from tenants where tenants.id = tenant_id;
  end if;
  loop
    if number_here is null then
      outcome := 'no_tenant';
      return next;
      return;
    end if;
    is_locked := pg_advisory_xact_lock_shared(lock_key(number_here, 0)) is not null;
    if cardinality(tuple_entity_ids) = 1 and cardinality(attribute_entity_ids) = 0 then
      is_locked := pg_advisory_xact_lock_shared(lock_key(number_here, tuple_stripe(
        tuple_entity_ids[1], tuple_relations[1], tuple_subject_ids[1]
      ))) is not null;
    else
      perform lock_stripes(
        number_here,
        array(
          select tuple_stripe(tuples.entity_id, tuples.relation, tuples.subject_id)
          from unnest(tuple_entity_ids, tuple_relations, tuple_subject_ids)
            as tuples (entity_id, relation, subject_id)
        ),
        array(
          select attribute_stripe(attributes.entity_id, attributes.attribute)
          from unnest(attribute_entity_ids, attribute_names) as attributes (entity_id, attribute)
        )
      );
    end if;
    -- The tenant may have been deleted before, or while this waited for its locks.
    select tenants.number, tenants.head_version, current_timeline()
      into number, head, timeline
    from tenants where tenants.id = tenant_id;
    exit when number = number_here;
    number_here := number;
  end loop;

  if pinned_version is null then
    if head is distinct from expected_head then
      outcome := 'other_head';
      return next;
      return;
    end if;
  elsif not exists (
    select from schemas
    where schemas.tenant = number_here and schemas.version = pinned_version
  ) then
    outcome := 'no_version';
    return next;
    return;
  end if;

  if timeline is distinct from known_timeline then
    timeline := note_timeline();
  end if;

  if cardinality(tuple_entity_types) > 0 then
    logged := create_tuples(
      number_here, 0, tuple_entity_types, tuple_entity_ids, tuple_relations,
      tuple_subject_types, tuple_subject_ids, tuple_subject_relations
    );
  end if;
  if cardinality(attribute_entity_types) > 0 then
    perform set_attributes(
      number_here, logged, attribute_entity_types, attribute_entity_ids, attribute_names,
      attribute_value_types, attribute_values
    );
  end if;

  outcome := 'written';
  snapshot := pg_current_snapshot();
  xid := pg_current_xact_id_if_assigned();
  return next;
end
$$;

-- Creates one tuple, as `write_data` does, for a third less: most writes are of one tuple. The
-- caller knows all that `write_data` would ask for. `lock_wait` is the `lock_timeout` of the
-- transaction; null leaves it as it is.
--
-- Returns the transaction id and the snapshot of the snap token, with a space between: to return a
-- row of several columns would take as long as to take the locks. Returns null and does nothing
-- when the tenant has another number or head than given, or the server writes another timeline;
-- `write_data` serves then.
-- Errors: raises an exception when the isolation level is not read committed, and fails with
-- `lock_not_available` after `lock_wait`.
--
-- Locks, and the order of the steps: as `write_data`.
create function write_tuple(
  tenant_id text,
  known_number bigint,
  known_timeline integer,
  expected_head text,
  entity_type text,
  entity_id text,
  relation text,
  subject_type text,
  subject_id text,
  subject_relation text,
  lock_wait text
)
returns text
language plpgsql volatile
as $$
#variable_conflict use_variable
declare
  -- PL/pgSQL evaluates the assignment of an expression directly. `perform` would run a query.
  is_done boolean;
begin
  if current_setting('transaction_isolation') <> 'read committed' then
    raise exception 'a write needs the isolation level read committed, not %',
      current_setting('transaction_isolation');
  end if;
  if current_timeline() <> known_timeline then
    return null;
  end if;
  if lock_wait is not null then
    is_done := set_config('lock_timeout', lock_wait, true) is not null;
  end if;
  is_done := pg_advisory_xact_lock_shared(lock_key(known_number, 0)) is not null;
  is_done := pg_advisory_xact_lock_shared(
    lock_key(known_number, tuple_stripe(entity_id, relation, subject_id))
  ) is not null;

  -- The tenant may have been deleted before, or while this waited for its locks.
  insert into relationships (
    tenant, entity_type, entity_id, relation, subject_type, subject_id, subject_relation,
    created_xid
  )
  select known_number, entity_type, entity_id, relation, subject_type, subject_id,
    subject_relation, pg_current_xact_id()
  from tenants
  where tenants.id = tenant_id
    and tenants.number = known_number
    and tenants.head_version = expected_head
  on conflict do nothing;
  if found then
    insert into changes (
      tenant, xid, ordinal, operation, entity_type, entity_id, relation, subject_type, subject_id,
      subject_relation
    )
    values (
      known_number, pg_current_xact_id(), 0, 'create', entity_type, entity_id, relation,
      subject_type, subject_id, subject_relation
    );
  elsif not exists (
    select from tenants
    join relationships as stored on stored.tenant = tenants.number
    where tenants.id = tenant_id
      and tenants.number = known_number
      and tenants.head_version = expected_head
      and stored.entity_id = entity_id
      and stored.relation = relation
      and stored.entity_type = entity_type
      and stored.subject_type = subject_type
      and stored.subject_relation = subject_relation
      and stored.subject_id = subject_id
  ) then
    return null;
  end if;
  return pg_current_xact_id()::text || ' ' || pg_current_snapshot()::text;
end
$$;

-- Deletes the tuples and attributes of one tenant that two filters let through. A side without its
-- `with_` deletes nothing.
-- Returns one row. `outcome` is `written` or `no_tenant`; the rest makes up the snap token.
-- Errors: raises an exception when the isolation level is not read committed.
--
-- Locks, before the changes, until the transaction ends. If the filters name all keys: the advisory
-- lock of the tenant, shared, then the stripes of the keys in ascending order, exclusively. Any
-- other filter locks the tenant exclusively, since the keys it deletes are not known before. The
-- snapshot comes last, as in `write_data`.
create function delete_data(
  tenant_id text,
  with_tuples boolean,
  tuple_entity_type text,
  tuple_entity_ids text[],
  tuple_relation text,
  tuple_subject_type text,
  tuple_subject_ids text[],
  tuple_subject_relation text,
  with_attributes boolean,
  attribute_entity_type text,
  attribute_entity_ids text[],
  attribute_names text[]
)
returns table (outcome text, snapshot pg_snapshot, xid xid8, timeline integer)
language plpgsql volatile
as $$
declare
  -- More keys than these are likely to cover all stripes.
  named_keys_max constant bigint := 1000;
  tuple_keys constant bigint :=
    cardinality(tuple_entity_ids)::bigint * cardinality(tuple_subject_ids);
  attribute_keys constant bigint :=
    cardinality(attribute_entity_ids)::bigint * cardinality(attribute_names);
  is_named constant boolean :=
    (not with_tuples
      or (tuple_relation <> '' and tuple_keys between 1 and named_keys_max))
    and (not with_attributes or attribute_keys between 1 and named_keys_max);
  number_here constant bigint := lock_tenant(tenant_id, not is_named);
  timeline_here integer;
  logged integer := 0;
begin
  if number_here is null then
    outcome := 'no_tenant';
    return next;
    return;
  end if;
  if is_named then
    perform lock_stripes(number_here, '{}', array(
      select tuple_stripe(entities.id, tuple_relation, subjects.id)
      from unnest(tuple_entity_ids) as entities (id), unnest(tuple_subject_ids) as subjects (id)
      where with_tuples
      union
      select attribute_stripe(entities.id, names.name)
      from unnest(attribute_entity_ids) as entities (id), unnest(attribute_names) as names (name)
      where with_attributes
    ));
  end if;
  timeline_here := note_timeline();
  if with_tuples then
    logged := delete_tuples(
      number_here, logged, tuple_entity_type, tuple_entity_ids, tuple_relation,
      tuple_subject_type, tuple_subject_ids, tuple_subject_relation
    );
  end if;
  if with_attributes then
    logged := delete_attributes(
      number_here, logged, attribute_entity_type, attribute_entity_ids, attribute_names
    );
  end if;
  return query
    select 'written', pg_current_snapshot(), pg_current_xact_id_if_assigned(), timeline_here;
end
$$;

-- Returns the texts of a JSON list, in their order. Fails when the value is not a list.
create function text_array(list jsonb) returns text[]
language sql immutable parallel safe
as $$
  select array(
    select value from jsonb_array_elements_text(list) with ordinality as items (value, position)
    order by position
  )
$$;

-- Returns the stripes of tuples that are given in columns, as in an operation of `run_bundle`.
create function listed_tuple_stripes(tuples jsonb) returns setof integer
language sql immutable
as $$
  select tuple_stripe(entity_id, relation, subject_id)
  from unnest(text_array(tuples -> 1), text_array(tuples -> 2), text_array(tuples -> 4))
    as keys (entity_id, relation, subject_id)
$$;

-- Returns the stripes of attributes that are given in columns, as in an operation of `run_bundle`.
create function listed_attribute_stripes(attributes jsonb) returns setof integer
language sql immutable
as $$
  select attribute_stripe(entity_id, attribute)
  from unnest(text_array(attributes -> 1), text_array(attributes -> 2))
    as keys (entity_id, attribute)
$$;

-- Applies the operations of a bundle to a tenant, in their order, all or none. An operation has
-- `create_tuples` and `delete_tuples`: six lists of equal length with entity types, entity ids,
-- relations, subject types, subject ids and subject relations; `set_attributes`: five lists with
-- entity types, entity ids, names, value types and JSON values, one value for each key; and
-- `delete_attributes`: the first three of these. In one operation, writes come before deletes.
--
-- Returns one row. `outcome` is `written`; `no_tenant`; or `other_head` when `expected_head` is
-- given and is not the head, or when the tenant's number is not `bundle_tenant`, the tenant of the
-- bundle. `head` is the true head; the rest makes up the snap token.
-- Errors: raises an exception when the isolation level is not read committed.
--
-- Locks, before the changes, until the transaction ends: the advisory lock of the tenant, shared;
-- then the stripes of all keys in ascending order, shared for tuples that are created, if only one
-- operation creates, and exclusive for all other keys. The snapshot comes last, as in `write_data`.
create function run_bundle(
  tenant_id text,
  bundle_tenant bigint,
  expected_head text,
  operations jsonb
)
returns table (outcome text, head text, snapshot pg_snapshot, xid xid8, timeline integer)
language plpgsql volatile
as $$
#variable_conflict use_column
declare
  number_here constant bigint := lock_tenant(tenant_id, false);
  -- Creates go in the order of their keys within one operation, not across operations. Two bundles
  -- that create in several operations could wait for each other in a circle, so they take exclusive
  -- locks.
  creates_alone constant boolean := (
    select count(*) > 1
    from jsonb_array_elements(operations) as steps (step)
    where steps.step #> '{create_tuples,0}' <> '[]'
  );
  timeline_here integer;
  logged integer := 0;
  step jsonb;
  columns jsonb;
begin
  if number_here is null then
    outcome := 'no_tenant';
    return next;
    return;
  end if;
  perform lock_stripes(
    number_here,
    array(
      select listed_tuple_stripes(steps.step -> 'create_tuples')
      from jsonb_array_elements(operations) as steps (step)
      where not creates_alone
    ),
    array(
      select listed_tuple_stripes(steps.step -> 'create_tuples')
      from jsonb_array_elements(operations) as steps (step)
      where creates_alone
      union
      select listed_tuple_stripes(steps.step -> 'delete_tuples')
      from jsonb_array_elements(operations) as steps (step)
      union
      select listed_attribute_stripes(steps.step -> 'set_attributes')
      from jsonb_array_elements(operations) as steps (step)
      union
      select listed_attribute_stripes(steps.step -> 'delete_attributes')
      from jsonb_array_elements(operations) as steps (step)
    )
  );

  select tenants.head_version into head from tenants where tenants.number = number_here;
  if number_here <> bundle_tenant
    or (expected_head is not null and head is distinct from expected_head)
  then
    outcome := 'other_head';
    return next;
    return;
  end if;

  timeline_here := note_timeline();
  for step in
    select steps.step from jsonb_array_elements(operations) with ordinality as steps (step, position)
    order by steps.position
  loop
    columns := step -> 'create_tuples';
    logged := create_tuples(
      number_here, logged, text_array(columns -> 0), text_array(columns -> 1),
      text_array(columns -> 2), text_array(columns -> 3), text_array(columns -> 4),
      text_array(columns -> 5)
    );
    columns := step -> 'set_attributes';
    logged := set_attributes(
      number_here, logged, text_array(columns -> 0), text_array(columns -> 1),
      text_array(columns -> 2), text_array(columns -> 3), text_array(columns -> 4)
    );
    columns := step -> 'delete_tuples';
    logged := delete_listed_tuples(
      number_here, logged, text_array(columns -> 0), text_array(columns -> 1),
      text_array(columns -> 2), text_array(columns -> 3), text_array(columns -> 4),
      text_array(columns -> 5)
    );
    columns := step -> 'delete_attributes';
    logged := delete_listed_attributes(
      number_here, logged, text_array(columns -> 0), text_array(columns -> 1),
      text_array(columns -> 2)
    );
  end loop;

  return query
    select 'written', head, pg_current_snapshot(), pg_current_xact_id_if_assigned(), timeline_here;
end
$$;

-- History

-- Returns the transaction id below which history serves no token that was given out after `cutoff`.
-- Takes no lock.
--
-- With `by_log` the times in the log count as well, for times without a reading. Then a token that
-- was given out after `cutoff` may be refused, if a transaction from before `cutoff` was still
-- open. No token is answered wrongly.
create function horizon_before(cutoff timestamptz, by_log boolean) returns xid8
language sql volatile
set enable_seqscan = on
as $$
  select greatest(
    installation.horizon,
    (
      select horizons.oldest_xid
      from horizons
      where horizons.system_identifier = installation.system_identifier
        and horizons.database_oid = installation.database_oid
        and horizons.at <= cutoff
      order by horizons.at desc
      limit 1
    ),
    (
      select least(changes.xid, pg_snapshot_xmin(pg_current_snapshot()))
      from changes
      where by_log and changes.at < cutoff
      order by changes.xid desc
      limit 1
    )
  )
  from installation
$$;

-- Returns whether a state that was seen on another timeline may be lost: the server that took over
-- (or was recovered to a point in time) may lack transactions that the state shows. Takes no lock.
--
-- Ids alone do not tell this: transactions do not commit in the order of their ids, and other
-- programs take ids as well. The log tells. All that a transaction could see when it began was in
-- the write-ahead log before it. So if the server has its change, it has what the transaction saw.
-- Ids from the first of a later timeline on are not those of the earlier timeline. A state is kept
-- when
-- * the change whose token names it is in the log, or
-- * a change of the tenant that began after the state was looked at is in the log, and the change
--   whose token it is, if that one found nothing to do, has not failed since.
create function is_lost(
  tenant_number bigint,
  seen_timeline integer,
  change_xid xid8,
  taken_before xid8
)
returns boolean
language plpgsql volatile
as $$
declare
  first_later xid8 := (
    select timelines.first_xid from timelines
    where timelines.timeline > seen_timeline
    order by timelines.timeline limit 1
  );
begin
  -- This server was left behind on an older timeline.
  if seen_timeline > current_timeline() then
    return true;
  end if;
  if exists (
    select from changes
    where changes.tenant = tenant_number
      and changes.xid = change_xid
      and (first_later is null or changes.xid < first_later)
  ) then
    return false;
  end if;
  if not exists (
    select from changes
    where changes.tenant = tenant_number
      and changes.xid >= taken_before
      and (first_later is null or changes.xid < first_later)
  ) then
    return true;
  end if;
  -- The id is below one that was given out, so it has a status, or none when that was long ago.
  return coalesce(pg_xact_status(change_xid), 'committed') <> 'committed';
end
$$;

-- Returns the state of a tenant that the statement sees on a standby, as the text of a snapshot, or
-- null when no such text names it. Takes no lock.
--
-- The snapshots of a standby do not tell which transactions are running. Below the lower end none
-- is running. As long as no change of the tenant has an id from there on, the lower end names the
-- whole state. Every transaction from there on whose change the standby lacks comes later in the
-- write-ahead log than all that the standby shows. So the lower end is also the id from which
-- transactions began later.
create function settled_state(tenant_number bigint, tenant_created_xid xid8) returns text
language sql stable parallel safe
as $$
  select settled.xid || ':' || settled.xid || ':'
  from (select pg_snapshot_xmin(pg_current_snapshot()) as xid offset 0) as settled
  where tenant_created_xid < settled.xid
    and not exists (
      select from changes where changes.tenant = tenant_number and changes.xid >= settled.xid
    )
$$;

-- By default every role may call a new function. Only roles with a grant may call these. A later
-- migration that adds a function revokes execute on it as well. Default privileges cannot do that:
-- those of functions belong to a role and not to a schema, so they would change the functions of
-- other programs.
revoke execute on function
  standby_timeline, current_timeline, record_timeline, note_timeline, lock_key, open_installation,
  tuple_stripe, attribute_stripe, lock_stripes, lock_tenant, write_schema, delete_tenant,
  logged_bytes, create_tuples, set_attributes, delete_tuples, delete_attributes,
  delete_listed_tuples, delete_listed_attributes, write_data, write_tuple, delete_data, text_array,
  listed_tuple_stripes, listed_attribute_stripes, run_bundle, horizon_before, is_lost, settled_state
from public;

-- Down Migration

drop function
  settled_state, is_lost, horizon_before, run_bundle, listed_attribute_stripes,
  listed_tuple_stripes, text_array, delete_data, write_tuple, write_data, delete_listed_attributes,
  delete_listed_tuples, delete_attributes, delete_tuples, set_attributes, create_tuples,
  logged_bytes, delete_tenant, write_schema, lock_tenant, lock_stripes, attribute_stripe,
  tuple_stripe, open_installation, lock_key, note_timeline, record_timeline, current_timeline,
  standby_timeline;
