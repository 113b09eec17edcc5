-- Up Migration

-- Writes tuples and attributes of one tenant, or nothing. The element lists are arrays of equal
-- length. With `pinned_version` that version must exist, else the head must be `expected_head`.
-- Outcomes: `written`, `no_tenant`, `no_version`, `other_head`; `head` is the true head version.
-- `snapshot`, `xid` (null when nothing changed) and `timeline` are what a snap token is made of.
--
-- The order of the steps is the whole point, each statement having a snapshot of its own:
-- 1. Locks come before there is a transaction id: writers of the same key get their ids in the
--    order in which they change it, so the log replays in the order of ids. Creates of tuples
--    share a stripe, since whichever comes second changes nothing.
-- 2. Changes. Keys go in order, so that creates that wait for each other never wait in a circle.
-- 3. The snapshot comes last: an insert that had to wait for another transaction's tuple returns
--    when that is committed, which an earlier snapshot would not know.
create function write_data(
  tenant_id text,
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
returns table (outcome text, head text, snapshot pg_snapshot, xid xid8, timeline integer)
language plpgsql volatile
as $$
#variable_conflict use_column
declare
  number_here bigint;
  logged integer := 0;
  is_recorded boolean;
begin
  if current_setting('transaction_isolation') <> 'read committed' then
    raise exception 'a write needs the isolation level read committed, not %',
      current_setting('transaction_isolation');
  end if;

  loop
    select tenants.number into number_here from tenants where tenants.id = tenant_id;
    if not found then
      outcome := 'no_tenant';
      return next;
      return;
    end if;
    perform pg_advisory_xact_lock_shared(lock_key(number_here, 0));
    if cardinality(tuple_entity_ids) = 1 and cardinality(attribute_entity_ids) = 0 then
      -- Most writes are of one tuple: the same lock as below, for a third of what that costs.
      perform pg_advisory_xact_lock_shared(lock_key(number_here, 1 + (hashtextextended(
        tuple_entity_ids[1] || '#' || tuple_relations[1] || '@' || tuple_subject_ids[1], 0
      ) & 63)::integer));
    else
      perform case
          when stripes.exclusive then pg_advisory_xact_lock(lock_key(number_here, stripes.slot))
          else pg_advisory_xact_lock_shared(lock_key(number_here, stripes.slot))
        end
      from (
        select keys.slot, bool_or(keys.exclusive) as exclusive
        from (
          select 1 + (hashtextextended(id || '#' || relation || '@' || subject, 0) & 63)::integer
            as slot, false as exclusive
          from unnest(tuple_entity_ids, tuple_relations, tuple_subject_ids)
            as tuples (id, relation, subject)
          union all
          select 1 + (hashtextextended(id || '$' || attribute, 0) & 63)::integer, true
          from unnest(attribute_entity_ids, attribute_names) as attributes (id, attribute)
        ) as keys
        group by keys.slot
        order by keys.slot
      ) as stripes;
    end if;
    -- The tenant may have been deleted while this waited for its locks.
    select
      tenants.head_version,
      current_timeline(),
      exists (
        select from installation
        join timelines using (system_identifier)
        where timelines.timeline = current_timeline()
      )
      into head, timeline, is_recorded
    from tenants where tenants.number = number_here;
    exit when found;
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

  if not is_recorded then
    perform record_timeline(installation.system_identifier, timeline) from installation;
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

-- Creates the tuples that are not there yet and logs them from `first_ordinal` on. Returns the next
-- free ordinal.
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

-- Gives attributes their values, one value for each key; an equal value changes nothing. Logs an
-- overwrite as the delete of the old value and the create of the new one, from `first_ordinal` on.
-- Returns the next free ordinal. The caller holds the exclusive locks of the keys: nobody else
-- changes them between the two statements.
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
    created_xid
  )
  select tenant_number, created_xid, position, 'delete', entity_type, entity_id, attribute,
    former_value_type, former_value, former_created_xid
  from numbered
  union all
  select tenant_number, created_xid, position + 1, 'create', entity_type, entity_id, attribute,
    value_type, value, null
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
    tenant, xid, ordinal, operation, entity_type, entity_id, attribute, value_type, value
  )
  select tenant_number, created_xid, next_ordinal - 1 + row_number() over (), 'create',
    entity_type, entity_id, attribute, value_type, value
  from created;
  get diagnostics logged = row_count;
  return next_ordinal + logged;
end
$$;

-- Down Migration

drop function write_data(
  text, text, text, text[], text[], text[], text[], text[], text[],
  text[], text[], text[], text[], text[]
);
drop function create_tuples(bigint, integer, text[], text[], text[], text[], text[], text[]);
drop function set_attributes(bigint, integer, text[], text[], text[], text[], text[]);
