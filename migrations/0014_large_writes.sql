-- Up Migration

-- Writes of many tuples take less of the server: lists become rows without being stored in between, and the
-- largest writes lock all stripes without finding out which they need (docs/decisions/0022-write-batches.md).

-- Returns lists of equal length as rows, with their positions from 1. The planner puts it into the statement
-- that asks. There the lists are read side by side, while `unnest` with several lists stores each of them
-- first. `offset 0` hides their lengths from the planner: otherwise it would plan each run for its lengths,
-- which takes longer than a write of few tuples.
create function listed_tuples(
  entity_types text[],
  entity_ids text[],
  relations text[],
  subject_types text[],
  subject_ids text[],
  subject_relations text[]
)
returns table (
  entity_type text, entity_id text, relation text, subject_type text, subject_id text,
  subject_relation text, "position" integer
)
language sql immutable parallel safe
as $$
  select unnest(lists.entity_types), unnest(lists.entity_ids), unnest(lists.relations),
    unnest(lists.subject_types), unnest(lists.subject_ids), unnest(lists.subject_relations),
    generate_series(1, cardinality(lists.entity_types))
  from (
    select entity_types, entity_ids, relations, subject_types, subject_ids, subject_relations
    offset 0
  ) as lists
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
      from listed_tuples(
        entity_types, entity_ids, relations, subject_types, subject_ids, subject_relations
      )
      order by entity_id collate "C", relation collate "C", entity_type collate "C",
        subject_type collate "C", subject_relation collate "C", subject_id collate "C";
      insert into changes (
        tenant, xid, ordinal, operation, entity_type, entity_id, relation, subject_type, subject_id,
        subject_relation
      )
      select tenant_number, pg_current_xact_id(), first_ordinal - 1 + position, 'create',
        entity_type, entity_id, relation, subject_type, subject_id, subject_relation
      from listed_tuples(
        entity_types, entity_ids, relations, subject_types, subject_ids, subject_relations
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
      from listed_tuples(
        entity_types, entity_ids, relations, subject_types, subject_ids, subject_relations
      )
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

-- Writes tuples and attributes, as 0002 says, with one difference: from 500 tuples on it locks all stripes.
create or replace function write_data(
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
  -- So many tuples are likely to have all stripes: to find out which takes longer than the locks.
  all_stripes_from constant integer := 500;
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
        case
          when cardinality(tuple_entity_ids) >= all_stripes_from
            then array(select generate_series(1, 64))
          else array(
            select tuple_stripe(tuples.entity_id, tuples.relation, tuples.subject_id)
            from unnest(tuple_entity_ids, tuple_relations, tuple_subject_ids)
              as tuples (entity_id, relation, subject_id)
          )
        end,
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

revoke execute on function listed_tuples from public;
