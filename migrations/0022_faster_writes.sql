-- Up Migration

-- What a statement checks of every row, and what it computes for it, it prepares each time anew; the
-- functions below are all who write here.
alter table changes drop constraint changes_operation_check;
alter table changes drop constraint changes_check;
alter table changes drop constraint changes_check1;

-- What the change of an attribute takes of a message: the value may be large, and then stands apart
-- from its row. Of a tuple the ids say it, and this is null.
alter table changes alter column bytes drop expression;
alter table changes alter column bytes drop not null;

create function logged_bytes(entity_id text, value jsonb) returns integer
language sql immutable parallel safe
as $$
  select octet_length(entity_id) + octet_length(value::text)
$$;

-- As before, and not to be lost in a crash, whatever the server is told to risk: those who know that
-- it is noted do not ask again.
create or replace function record_timeline(here_system text, here_timeline integer) returns void
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

drop function write_data(
  text, text, text, text[], text[], text[], text[], text[], text[],
  text[], text[], text[], text[], text[]
);

-- Writes tuples and attributes of one tenant, or nothing. The element lists are arrays of equal
-- length. With `pinned_version` that version must exist, else the head must be `expected_head`.
-- What is known need not be asked for, and may be wrong or null: `known_number`, which the tenant
-- had when it was last seen, and `known_timeline`, one that is recorded. Outcomes: `written`,
-- `no_tenant`, `no_version`, `other_head`; `number` and `head` are the true ones. `snapshot`, `xid`
-- (null when nothing changed) and `timeline` are what a snap token is made of.
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
  -- The assignment of an expression is evaluated at once, where `perform` would be a query.
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
    -- The tenant may have been deleted while this waited for its locks, or before.
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

-- Creates the tuples that are not there yet and logs them from `first_ordinal` on. Returns the next
-- free ordinal.
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
begin
  if cardinality(entity_types) = 0 then
    return first_ordinal;
  end if;

  -- Most writes are of one tuple: what follows costs twice as much.
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

  -- As if none were there yet, since looking at each first costs a third of what all this does. What
  -- it leaves behind when one is there are dead rows, the fewer the more are there.
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

-- The functions that change attributes are as before, and say what a change takes of a message.
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

-- Down Migration

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
    created_xid
  )
  select tenant_number, pg_current_xact_id(), first_ordinal - 1 + row_number() over (), 'delete',
    entity_type, entity_id, attribute, value_type, value, created_xid
  from deleted;
  get diagnostics logged = row_count;
  return first_ordinal + logged;
end
$$;

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

drop function write_data(
  text, bigint, integer, text, text, text[], text[], text[], text[], text[], text[],
  text[], text[], text[], text[], text[]
);
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

create or replace function record_timeline(here_system text, here_timeline integer) returns void
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
  end if;
end
$$;

drop function logged_bytes(text, jsonb);
alter table changes drop column bytes;
alter table changes add column bytes integer not null generated always as (
  octet_length(entity_id) + coalesce(octet_length(subject_id), 0)
    + coalesce(octet_length(value::text), 0)
) stored;
alter table changes
  add constraint changes_operation_check check (operation in ('create', 'delete')),
  add constraint changes_check check ((relation is null) <> (attribute is null)),
  add constraint changes_check1 check ((operation = 'delete') = (created_xid is not null));
