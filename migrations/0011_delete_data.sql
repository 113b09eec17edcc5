-- Up Migration

-- What begins every change of a tenant's data that is not a mere write: the lock of the tenant,
-- before there is a transaction id. Exclusive keeps all its other writers out. Returns the number of
-- the tenant, or null when there is none.
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

-- The stripe of a key, which is entity id, relation and subject id of a tuple, or entity id and name
-- of an attribute. Every function that changes data agrees on it.
create function tuple_stripe(entity_id text, relation text, subject_id text) returns integer
language sql immutable parallel safe
as $$
  select 1 + (hashtextextended(entity_id || '#' || relation || '@' || subject_id, 0) & 63)::integer
$$;

create function attribute_stripe(entity_id text, attribute text) returns integer
language sql immutable parallel safe
as $$
  select 1 + (hashtextextended(entity_id || '$' || attribute, 0) & 63)::integer
$$;

-- Locks stripes of a tenant in their order, so that nobody waits in a circle. A stripe that is in
-- both lists is locked exclusively.
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

-- The timeline that is written, noted when it is a new one.
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

-- Deletes the tuples that a filter lets through and logs them from `first_ordinal` on. Returns the
-- next free ordinal. An empty text or list of the filter lets everything through. Each run is
-- planned with its values: which index serves depends on which of them there are.
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
    -- No index leads by type or relation, so the way through the table is the shorter one.
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

-- The same for attributes; a list of names lets any of them through.
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
    created_xid
  )
  select tenant_number, pg_current_xact_id(), first_ordinal - 1 + row_number() over (), 'delete',
    entity_type, entity_id, attribute, value_type, value, created_xid
  from deleted;
  get diagnostics logged = row_count;
  return first_ordinal + logged;
end
$$;

-- Deletes the tuples and attributes of one tenant that two filters let through; a side without its
-- `with_` deletes nothing. Outcomes: `written`, `no_tenant`; the rest is what a snap token is made
-- of. The order of the steps is that of `write_data`: locks, changes, the snapshot. Keys that the
-- filters name one by one are locked alone; any other filter locks the whole tenant, since what it
-- deletes is not known before.
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
  -- Among more keys than these no stripe is likely to be left free.
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

-- Down Migration

drop function delete_data(
  text, boolean, text, text[], text, text, text[], text, boolean, text, text[], text[]
);
drop function delete_attributes(bigint, integer, text, text[], text[]);
drop function delete_tuples(bigint, integer, text, text[], text, text, text[], text);
drop function note_timeline();
drop function lock_stripes(bigint, integer[], integer[]);
drop function attribute_stripe(text, text);
drop function tuple_stripe(text, text, text);
drop function lock_tenant(text, boolean);
