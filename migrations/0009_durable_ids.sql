-- Up Migration

-- A server that crashes loses the end of its write-ahead log: what was not on disk yet. Then it gives out
-- again the ids that only stood there. A state that shows such an id would show what another transaction
-- makes after the crash. So a state that is given out shows durable ids only
-- (docs/decisions/0019-durable-ids.md).

-- The last durable id that is known, in one row: that of the last logged change of another transaction, or
-- one that was noted later. Both are on disk before they are seen. The log is read from the note on: what
-- lies before may have been removed, and the index keeps it until a vacuum.
create view durable_xid as
  select greatest(
    noted.xid,
    (
      select changes.xid
      from changes
      where changes.ordinal = 0
        and changes.xid >= noted.xid
        and changes.xid is distinct from pg_current_xact_id_if_assigned()
      order by changes.xid desc
      limit 1
    )
  ) as xid
  from (
    select greatest(
      installation.horizon,
      (
        select horizons.oldest_xid
        from horizons
        where horizons.system_identifier = installation.system_identifier
          and horizons.database_oid = installation.database_oid
        order by horizons.at desc
        limit 1
      )
    ) as xid
    from installation
    offset 0
  ) as noted;

-- Returns null if the transaction has logged a change; else the last durable id that is known, which is not
-- below the one that made the tenant. It is volatile: a statement that calls it after it took a snapshot
-- gets an id from which on that snapshot shows no change. Takes no lock.
create function durable_unless_logged(tenant_id text) returns xid8
language plpgsql volatile
as $$
begin
  if exists (
    select from changes
    where changes.ordinal = 0 and changes.xid = pg_current_xact_id_if_assigned()
  ) then
    return null;
  end if;
  return (
    select greatest(
      durable_xid.xid, (select tenants.created_xid from tenants where tenants.id = tenant_id)
    )
    from durable_xid
  );
end
$$;

-- Returns how a token names a logged change of its transaction: by its ordinal, by the id that wrote its
-- row, and by its time in microseconds. The id is that of the savepoint, and no other savepoint gets it.
-- After a crash another transaction may get it, but not the time.
create function change_mark(ordinal integer, written_by xid, at timestamptz) returns text
language sql stable parallel safe
as $$
  select ordinal || '/' || written_by || '/' || (extract(epoch from at) * 1000000)::bigint
$$;

-- Returns whether a token that an application took in its transaction names no state of the tenant. `last`
-- has three parts with a space between: the mark of the last change that the transaction had logged, the
-- last durable id, and the snapshot, all of the moment when it was taken. Null and empty stand for a token
-- that needs no such proof: false. Takes no lock.
--
-- If the transaction has logged nothing, it was undone: then the state is that of all others. But after a
-- crash the snapshot may show ids that were given out again. It showed no change above the durable id.
create or replace function is_logged_otherwise(tenant_number bigint, change_xid xid8, last text)
returns boolean
language plpgsql stable parallel safe
as $$
declare
  parts constant text[] := string_to_array(last, ' ');
  mark text;
  durable xid8;
  seen pg_snapshot;
begin
  if coalesce(last, '') = '' then
    return false;
  end if;
  select change_mark(changes.ordinal, changes.xmin, changes.at)
    into mark
  from changes
  where changes.tenant = tenant_number and changes.xid = change_xid
  order by changes.ordinal desc
  limit 1;
  if mark is not null then
    return mark <> parts[1];
  end if;
  durable := parts[2];
  seen := parts[3];
  return exists (
    select from changes
    where changes.tenant = tenant_number
      and changes.xid > durable
      and changes.xid < pg_snapshot_xmax(seen)
      and pg_visible_in_snapshot(changes.xid, seen)
  )
  -- Below the horizon changes may have been removed.
  or durable < (select installation.horizon from installation);
end
$$;

-- Creates one tuple, as 0007 has it, with two differences. It returns null also if a map derives the tuple.
-- If the tuple was there already, the text has 0 for the id, and the last durable id after the snapshot.
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
  if may_derive() then
    if exists (
      select
      from derived
      where derived.label = tuple_label(entity_type, relation, subject_type, subject_relation)
        and derived.tenant in ('', tenant_id)
    ) then
      return null;
    end if;
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
  else
    return '0 ' || pg_current_snapshot()::text || ' ' || durable_unless_logged(tenant_id)::text;
  end if;
  return pg_current_xact_id()::text || ' ' || pg_current_snapshot()::text;
end
$$;

revoke execute on function durable_unless_logged, change_mark from public;
