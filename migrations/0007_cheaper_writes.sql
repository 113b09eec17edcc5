-- Up Migration

-- Whether another transaction came in between is first asked of the snapshots alone, which costs less
-- than a microsecond. Tables are only asked when it may be so (docs/decisions/0016-application-writes.md).

-- Returns whether a transaction with a higher id than the own one has ended. Until one has, nothing that
-- the own one meets was changed by a later one. Gives the transaction an id. Takes no lock.
create function is_overtaken() returns boolean
language sql volatile
as $$
  select pg_snapshot_xmax(pg_current_snapshot()) > pg_current_xact_id()
$$;

-- Returns whether no other transaction that has an id has ended since a snapshot of the own one was
-- taken. Takes no lock.
create function is_same_state(seen pg_snapshot) returns boolean
language sql stable
as $$
  select pg_current_snapshot()::text = seen::text
$$;

-- Fails with serialization_failure when a later transaction has made one of those whose deletion this one
-- has logged from `first_ordinal` on. Takes no lock. Its plan is kept, also when the caller plans each run.
create function refuse_later_creates(tenant_number bigint, first_ordinal integer) returns void
language plpgsql volatile
set plan_cache_mode = force_generic_plan
as $$
begin
  if exists (
    select
    from changes
    where changes.tenant = tenant_number
      and changes.xid = pg_current_xact_id()
      and changes.ordinal >= first_ordinal
      and changes.operation = 'delete'
      and changes.created_xid > changes.xid
  ) then
    perform refuse_inversion();
  end if;
end
$$;

-- Fails with serialization_failure when a later transaction has deleted one of the keys that this one
-- has created and logged from `first_ordinal` on. Takes no lock.
create or replace function refuse_later_deletes(tenant_number bigint, first_ordinal integer) returns void
language plpgsql volatile
as $$
#variable_conflict use_column
begin
  if not exists (
    select from changes
    where changes.tenant = tenant_number and changes.xid > pg_current_xact_id()
  ) then
    return;
  end if;
  if exists (
    select
    from changes as made
    where made.tenant = tenant_number
      and made.xid = pg_current_xact_id()
      and made.ordinal >= first_ordinal
      and made.operation = 'create'
      and (
        exists (
          select
          from changes as later
          where later.entity_id = made.entity_id
            and later.relation = made.relation
            and later.entity_type = made.entity_type
            and later.tenant + 0 = made.tenant
            and later.subject_type = made.subject_type
            and later.subject_relation = made.subject_relation
            and later.subject_id = made.subject_id
            and later.operation = 'delete'
            and later.relation is not null
            and later.xid > made.xid
        )
        or exists (
          select
          from changes as later
          where later.entity_id = made.entity_id
            and later.attribute = made.attribute
            and later.entity_type = made.entity_type
            and later.tenant + 0 = made.tenant
            and later.operation = 'delete'
            and later.attribute is not null
            and later.xid > made.xid
        )
      )
  ) then
    perform refuse_inversion();
  end if;
end
$$;

-- Creates the tuples that are not there yet, and logs them.
-- Locks: the rows it creates, in the order of their keys. It waits for another transaction that creates
-- or deletes the same tuple; the order keeps two such transactions from waiting for each other.
-- Errors: serialization_failure, when a later transaction has deleted one of them.
create or replace function create_tuples(
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
  next_ordinal integer;
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
    next_ordinal := first_ordinal + 1;
  else
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
      next_ordinal := first_ordinal + cardinality(entity_types);
    exception when unique_violation then
      null;
    end;
  end if;

  if next_ordinal is null then
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
    next_ordinal := first_ordinal + logged;
  end if;

  if is_overtaken() then
    perform refuse_later_deletes(tenant_number, first_ordinal);
  end if;
  return next_ordinal;
end
$$;

-- Sets attributes, and logs those whose value or type changes: an overwritten one as a delete and a
-- create. Each key stands in the lists once.
-- Locks: the rows it changes, in the order of their keys. It waits for another transaction that changes
-- the same attribute.
-- Errors: serialization_failure, when a later transaction has changed one of them.
--
-- The rows are locked before they are changed, and the lock returns them as they are after the wait. An
-- update that waits itself would log the value that it found before.
create or replace function set_attributes(
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
  overwrites integer;
  next_ordinal integer := first_ordinal;
begin
  if cardinality(entity_types) = 0 then
    return first_ordinal;
  end if;
  loop
    with locked as materialized (
      select stored.entity_type, stored.entity_id, stored.attribute,
        stored.value_type as former_value_type, stored.value as former_value,
        stored.created_xid as former_created_xid,
        wanted.value_type, wanted.value::jsonb as value
      from unnest(entity_types, entity_ids, names, value_types, new_values)
        as wanted (entity_type, entity_id, attribute, value_type, value)
      join attributes as stored
        on stored.entity_id = wanted.entity_id
        and stored.attribute = wanted.attribute
        and stored.entity_type = wanted.entity_type
        and stored.tenant = tenant_number
      where (stored.value_type, stored.value)
        is distinct from (wanted.value_type, wanted.value::jsonb)
      order by stored.entity_id, stored.attribute, stored.entity_type
      for no key update of stored
    ),
    overwritten as (
      update attributes as stored
      set value_type = locked.value_type, value = locked.value, created_xid = pg_current_xact_id()
      from locked
      where stored.entity_id = locked.entity_id
        and stored.attribute = locked.attribute
        and stored.entity_type = locked.entity_type
        and stored.tenant = tenant_number
      returning stored.entity_type, stored.entity_id, stored.attribute, stored.value_type,
        stored.value, stored.created_xid, locked.former_value_type, locked.former_value,
        locked.former_created_xid
    ),
    numbered as (
      select overwritten.*, next_ordinal + 2 * (row_number() over () - 1) as position
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
    if logged > 0 and is_overtaken() then
      perform refuse_later_creates(tenant_number, next_ordinal);
    end if;
    next_ordinal := next_ordinal + logged;
    overwrites := logged / 2;

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
    next_ordinal := next_ordinal + logged;

    -- The others have the value already, or another transaction has just made them with its own.
    exit when overwrites + logged = cardinality(entity_types) or not exists (
      select
      from unnest(entity_types, entity_ids, names, value_types, new_values)
        as wanted (entity_type, entity_id, attribute, value_type, value)
      left join attributes as stored
        on stored.entity_id = wanted.entity_id
        and stored.attribute = wanted.attribute
        and stored.entity_type = wanted.entity_type
        and stored.tenant = tenant_number
      where (stored.value_type, stored.value)
        is distinct from (wanted.value_type, wanted.value::jsonb)
    );
  end loop;

  if is_overtaken() then
    perform refuse_later_deletes(tenant_number, first_ordinal);
  end if;
  return next_ordinal;
end
$$;

-- Does the work of `delete_tuples` for a filter that names one entity, one subject and the relation between
-- them. An empty `wanted_subject_relation` stands for the subject itself and for all its relations. The
-- plans of its statements are kept, so it costs a third of what `delete_matching_tuples` costs.
--
-- In the index by entity, tuples with the subject itself come before those with its relations, and there
-- may be thousands of them. So each of the two kinds is looked for in a statement of its own.
create function delete_tuples_between(
  tenant_number bigint,
  first_ordinal integer,
  wanted_entity_type text,
  wanted_entity_id text,
  wanted_relation text,
  wanted_subject_type text,
  wanted_subject_id text,
  wanted_subject_relation text
)
returns integer
language plpgsql volatile
as $$
#variable_conflict use_column
declare
  logged integer;
  former_xid xid8;
  seen pg_snapshot;
  begin_ordinal integer;
  next_ordinal integer := first_ordinal;
begin
  loop
    seen := pg_current_snapshot();
    begin_ordinal := next_ordinal;
    delete from relationships
    where entity_id = wanted_entity_id
      and relation = wanted_relation
      and entity_type = wanted_entity_type
      and tenant = tenant_number
      and subject_type = wanted_subject_type
      and subject_relation = wanted_subject_relation
      and subject_id = wanted_subject_id
    returning created_xid into former_xid;
    if found then
      insert into changes (
        tenant, xid, ordinal, operation, entity_type, entity_id, relation, subject_type, subject_id,
        subject_relation, created_xid
      )
      values (
        tenant_number, pg_current_xact_id(), next_ordinal, 'delete', wanted_entity_type,
        wanted_entity_id, wanted_relation, wanted_subject_type, wanted_subject_id,
        wanted_subject_relation, former_xid
      );
      next_ordinal := next_ordinal + 1;
    end if;
    if wanted_subject_relation = '' then
      with deleted as (
        delete from relationships
        where entity_id = wanted_entity_id
          and relation = wanted_relation
          and entity_type = wanted_entity_type
          and tenant = tenant_number
          and subject_type = wanted_subject_type
          and subject_relation > ''
          and subject_id = wanted_subject_id
        returning subject_relation, created_xid
      )
      insert into changes (
        tenant, xid, ordinal, operation, entity_type, entity_id, relation, subject_type, subject_id,
        subject_relation, created_xid
      )
      select tenant_number, pg_current_xact_id(), next_ordinal - 1 + row_number() over (), 'delete',
        wanted_entity_type, wanted_entity_id, wanted_relation, wanted_subject_type,
        wanted_subject_id, subject_relation, created_xid
      from deleted;
      get diagnostics logged = row_count;
      next_ordinal := next_ordinal + logged;
    end if;
    if next_ordinal > begin_ordinal and is_overtaken() then
      perform refuse_later_creates(tenant_number, begin_ordinal);
    end if;
    exit when is_same_state(seen) or not is_changed_since(tenant_number, seen);
    exit when not exists (
      select from relationships as stored
      where entity_id = wanted_entity_id
        and relation = wanted_relation
        and entity_type = wanted_entity_type
        and tenant = tenant_number
        and subject_type = wanted_subject_type
        and subject_relation = wanted_subject_relation
        and subject_id = wanted_subject_id
        and is_replaced_tuple(stored, seen)
    )
    and not exists (
      select from relationships as stored
      where wanted_subject_relation = ''
        and entity_id = wanted_entity_id
        and relation = wanted_relation
        and entity_type = wanted_entity_type
        and tenant = tenant_number
        and subject_type = wanted_subject_type
        and subject_relation > ''
        and subject_id = wanted_subject_id
        and is_replaced_tuple(stored, seen)
    );
  end loop;
  return next_ordinal;
end
$$;

-- Does the work of `delete_tuples` for any filter. Each run is planned with its values, since the index
-- that serves depends on which values are given. Tuples whose labels are in `kept` are left alone. If it is
-- empty, the condition on it is no part of the plans.
create function delete_matching_tuples(
  tenant_number bigint,
  first_ordinal integer,
  wanted_entity_type text,
  wanted_entity_ids text[],
  wanted_relation text,
  wanted_subject_type text,
  wanted_subject_ids text[],
  wanted_subject_relation text,
  kept text[]
)
returns integer
language plpgsql volatile
set plan_cache_mode = force_custom_plan
set enable_seqscan = off
as $$
#variable_conflict use_column
declare
  logged integer;
  seen pg_snapshot;
  next_ordinal integer := first_ordinal;
begin
  if cardinality(wanted_entity_ids) = 0 and cardinality(wanted_subject_ids) = 0 then
    -- No index begins with a type or a relation, so a scan of the table is cheaper.
    perform set_config('enable_seqscan', 'on', true);
  end if;
  loop
    seen := pg_current_snapshot();
    with deleted as (
      delete from relationships
      where tenant = tenant_number
        and (wanted_entity_type = '' or entity_type = wanted_entity_type)
        and (cardinality(wanted_entity_ids) = 0 or entity_id = any(wanted_entity_ids))
        and (wanted_relation = '' or relation = wanted_relation)
        and (wanted_subject_type = '' or subject_type = wanted_subject_type)
        and (cardinality(wanted_subject_ids) = 0 or subject_id = any(wanted_subject_ids))
        and (wanted_subject_relation = '' or subject_relation = wanted_subject_relation)
        and (
          cardinality(kept) = 0
          or tuple_label(entity_type, relation, subject_type, subject_relation) <> all(kept)
        )
      returning entity_type, entity_id, relation, subject_type, subject_id, subject_relation,
        created_xid
    )
    insert into changes (
      tenant, xid, ordinal, operation, entity_type, entity_id, relation, subject_type, subject_id,
      subject_relation, created_xid
    )
    select tenant_number, pg_current_xact_id(), next_ordinal - 1 + row_number() over (), 'delete',
      entity_type, entity_id, relation, subject_type, subject_id, subject_relation, created_xid
    from deleted;
    get diagnostics logged = row_count;
    if logged > 0 and is_overtaken() then
      perform refuse_later_creates(tenant_number, next_ordinal);
    end if;
    next_ordinal := next_ordinal + logged;
    exit when is_same_state(seen) or not is_changed_since(tenant_number, seen);
    exit when not exists (
      select from relationships as stored
      where tenant = tenant_number
        and (wanted_entity_type = '' or entity_type = wanted_entity_type)
        and (cardinality(wanted_entity_ids) = 0 or entity_id = any(wanted_entity_ids))
        and (wanted_relation = '' or relation = wanted_relation)
        and (wanted_subject_type = '' or subject_type = wanted_subject_type)
        and (cardinality(wanted_subject_ids) = 0 or subject_id = any(wanted_subject_ids))
        and (wanted_subject_relation = '' or subject_relation = wanted_subject_relation)
        and (
          cardinality(kept) = 0
          or tuple_label(entity_type, relation, subject_type, subject_relation) <> all(kept)
        )
        and is_replaced_tuple(stored, seen)
    );
  end loop;
  return next_ordinal;
end
$$;

-- Deletes the tuples that a filter lets through, and logs them. An empty text or list of the filter
-- lets everything through.
-- Locks: the rows it deletes. It waits for another transaction that deletes the same tuple.
-- Errors: serialization_failure, when a later transaction has made one of them, and PB006.
--
-- It looks again when something of the tenant has changed meanwhile: a row that another transaction
-- replaced while this one waited for it is another row, which the statement does not see.
create or replace function delete_tuples(
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
as $$
declare
  kept constant text[] := kept_tuples(
    tenant_number, wanted_entity_type, wanted_relation, wanted_subject_type, wanted_subject_relation
  );
begin
  -- The filter names the relation, so `kept` is empty.
  if cardinality(wanted_entity_ids) = 1 and cardinality(wanted_subject_ids) = 1
    and wanted_entity_type <> '' and wanted_relation <> '' and wanted_subject_type <> ''
  then
    return delete_tuples_between(
      tenant_number, first_ordinal, wanted_entity_type, wanted_entity_ids[1], wanted_relation,
      wanted_subject_type, wanted_subject_ids[1], wanted_subject_relation
    );
  end if;
  return delete_matching_tuples(
    tenant_number, first_ordinal, wanted_entity_type, wanted_entity_ids, wanted_relation,
    wanted_subject_type, wanted_subject_ids, wanted_subject_relation, kept
  );
end
$$;

-- Deletes the attributes that a filter lets through, and logs them. An empty text or list of the
-- filter lets everything through.
-- Locks, errors, the second look, and how it is planned: as `delete_matching_tuples`.
create or replace function delete_attributes(
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
  seen pg_snapshot;
  next_ordinal integer := first_ordinal;
  kept constant text[] := kept_attributes(tenant_number, wanted_entity_type, wanted_names);
begin
  if cardinality(wanted_entity_ids) = 0 then
    perform set_config('enable_seqscan', 'on', true);
  end if;
  loop
    seen := pg_current_snapshot();
    with deleted as (
      delete from attributes
      where tenant = tenant_number
        and (wanted_entity_type = '' or entity_type = wanted_entity_type)
        and (cardinality(wanted_entity_ids) = 0 or entity_id = any(wanted_entity_ids))
        and (cardinality(wanted_names) = 0 or attribute = any(wanted_names))
        and (cardinality(kept) = 0 or entity_type || '$' || attribute <> all(kept))
      returning entity_type, entity_id, attribute, value_type, value, created_xid
    )
    insert into changes (
      tenant, xid, ordinal, operation, entity_type, entity_id, attribute, value_type, value,
      created_xid, bytes
    )
    select tenant_number, pg_current_xact_id(), next_ordinal - 1 + row_number() over (), 'delete',
      entity_type, entity_id, attribute, value_type, value, created_xid,
      logged_bytes(entity_id, value)
    from deleted;
    get diagnostics logged = row_count;
    if logged > 0 and is_overtaken() then
      perform refuse_later_creates(tenant_number, next_ordinal);
    end if;
    next_ordinal := next_ordinal + logged;
    exit when is_same_state(seen) or not is_changed_since(tenant_number, seen);
    exit when not exists (
      select from attributes as stored
      where tenant = tenant_number
        and (wanted_entity_type = '' or entity_type = wanted_entity_type)
        and (cardinality(wanted_entity_ids) = 0 or entity_id = any(wanted_entity_ids))
        and (cardinality(wanted_names) = 0 or attribute = any(wanted_names))
        and (cardinality(kept) = 0 or entity_type || '$' || attribute <> all(kept))
        and is_replaced_attribute(stored, seen)
    );
  end loop;
  return next_ordinal;
end
$$;

-- Deletes the listed tuples that are there, and logs them.
-- Locks: the rows it deletes, in the order of their keys. It waits for another transaction that deletes
-- the same tuple.
-- Errors, and the second look: as `delete_tuples`.
create or replace function delete_listed_tuples(
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
  former_xid xid8;
  seen pg_snapshot;
  next_ordinal integer := first_ordinal;
begin
  if cardinality(entity_types) = 0 then
    return first_ordinal;
  end if;
  loop
    seen := pg_current_snapshot();
    if cardinality(entity_types) = 1 then
      -- The statement for several costs more than twice as much.
      delete from relationships
      where entity_id = entity_ids[1]
        and relation = relations[1]
        and entity_type = entity_types[1]
        and tenant = tenant_number
        and subject_type = subject_types[1]
        and subject_relation = subject_relations[1]
        and subject_id = subject_ids[1]
      returning created_xid into former_xid;
      if found then
        insert into changes (
          tenant, xid, ordinal, operation, entity_type, entity_id, relation, subject_type,
          subject_id, subject_relation, created_xid
        )
        values (
          tenant_number, pg_current_xact_id(), next_ordinal, 'delete', entity_types[1],
          entity_ids[1], relations[1], subject_types[1], subject_ids[1], subject_relations[1],
          former_xid
        );
      end if;
    else
      with deleted as (
        delete from relationships as stored
        using (
          select *
          from unnest(
            entity_types, entity_ids, relations, subject_types, subject_ids, subject_relations
          ) as keys (entity_type, entity_id, relation, subject_type, subject_id, subject_relation)
          order by entity_id collate "C", relation collate "C", entity_type collate "C",
            subject_type collate "C", subject_relation collate "C", subject_id collate "C"
        ) as wanted
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
        tenant, xid, ordinal, operation, entity_type, entity_id, relation, subject_type,
        subject_id, subject_relation, created_xid
      )
      select tenant_number, pg_current_xact_id(), next_ordinal - 1 + row_number() over (),
        'delete', entity_type, entity_id, relation, subject_type, subject_id, subject_relation,
        created_xid
      from deleted;
    end if;
    get diagnostics logged = row_count;
    if logged > 0 and is_overtaken() then
      perform refuse_later_creates(tenant_number, next_ordinal);
    end if;
    next_ordinal := next_ordinal + logged;
    exit when is_same_state(seen) or not is_changed_since(tenant_number, seen);
    exit when not exists (
      select
      from unnest(
        entity_types, entity_ids, relations, subject_types, subject_ids, subject_relations
      ) as wanted (entity_type, entity_id, relation, subject_type, subject_id, subject_relation)
      join relationships as stored
        on stored.entity_id = wanted.entity_id
        and stored.relation = wanted.relation
        and stored.entity_type = wanted.entity_type
        and stored.tenant = tenant_number
        and stored.subject_type = wanted.subject_type
        and stored.subject_relation = wanted.subject_relation
        and stored.subject_id = wanted.subject_id
      where is_replaced_tuple(stored, seen)
    );
  end loop;
  return next_ordinal;
end
$$;

-- Deletes the listed attributes that are there, and logs them.
-- Locks: the rows it deletes, in the order of their keys. It waits for another transaction that changes
-- the same attribute.
-- Errors, and the second look: as `delete_tuples`.
create or replace function delete_listed_attributes(
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
  seen pg_snapshot;
  next_ordinal integer := first_ordinal;
begin
  if cardinality(entity_types) = 0 then
    return first_ordinal;
  end if;
  loop
    seen := pg_current_snapshot();
    with deleted as (
      delete from attributes as stored
      using (
        select *
        from unnest(entity_types, entity_ids, names) as keys (entity_type, entity_id, attribute)
        order by entity_id collate "C", attribute collate "C", entity_type collate "C"
      ) as wanted
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
    select tenant_number, pg_current_xact_id(), next_ordinal - 1 + row_number() over (), 'delete',
      entity_type, entity_id, attribute, value_type, value, created_xid,
      logged_bytes(entity_id, value)
    from deleted;
    get diagnostics logged = row_count;
    if logged > 0 and is_overtaken() then
      perform refuse_later_creates(tenant_number, next_ordinal);
    end if;
    next_ordinal := next_ordinal + logged;
    exit when is_same_state(seen) or not is_changed_since(tenant_number, seen);
    exit when not exists (
      select
      from unnest(entity_types, entity_ids, names) as wanted (entity_type, entity_id, attribute)
      join attributes as stored
        on stored.entity_id = wanted.entity_id
        and stored.attribute = wanted.attribute
        and stored.entity_type = wanted.entity_type
        and stored.tenant = tenant_number
      where is_replaced_attribute(stored, seen)
    );
  end loop;
  return next_ordinal;
end
$$;

-- Creates one tuple, as 0002 says.
-- Errors: also serialization_failure, when a later transaction has deleted the tuple.
create or replace function write_tuple(
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
    if is_overtaken() then
      perform refuse_later_deletes(known_number, 0);
    end if;
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
create or replace function delete_data(
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
  -- PL/pgSQL evaluates the assignment of an expression directly. `perform` would run a query.
  is_locked boolean;
begin
  if number_here is null then
    outcome := 'no_tenant';
    return next;
    return;
  end if;
  if is_named and with_tuples and tuple_keys = 1 and not with_attributes then
    is_locked := pg_advisory_xact_lock(lock_key(
      number_here, tuple_stripe(tuple_entity_ids[1], tuple_relation, tuple_subject_ids[1])
    )) is not null;
  elsif is_named then
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
  outcome := 'written';
  snapshot := pg_current_snapshot();
  xid := pg_current_xact_id_if_assigned();
  timeline := timeline_here;
  return next;
end
$$;

revoke execute on function
  is_overtaken, is_same_state, refuse_later_creates, delete_tuples_between, delete_matching_tuples
from public;
