-- Up Migration

-- A token that an application takes inside its transaction names the changes that are logged by then.
-- Until now it said how many. A rollback to a savepoint takes changes back, and later ones get their
-- numbers: then the token was read with changes that it did not mean, in a state that never was. From
-- here on it names the last change.

-- Returns whether the last change that a transaction logged for a tenant is another one than `last`: its
-- ordinal, `/`, and the id that wrote its row. That id is the one of the savepoint, and no other savepoint
-- gets it. A transaction that is undone, or that logged nothing, has no last change: then, and when `last`
-- is null or empty, this is false. Takes no lock.
create function is_logged_otherwise(tenant_number bigint, change_xid xid8, last text) returns boolean
language sql stable parallel safe
as $$
  select coalesce(
    (
      select changes.ordinal || '/' || changes.xmin
      from changes
      where last <> ''
        and changes.tenant = tenant_number
        and changes.xid = change_xid
      order by changes.ordinal desc
      limit 1
    ) <> last,
    false
  )
$$;

-- As 0004 has it. The only difference is how `seen` names the last change of its transaction.
drop function change_data(
  text, text, text, pg_snapshot, integer, xid8, xid8, integer, jsonb
);

-- Changes the data of a tenant in one transaction, if preconditions hold: deletes, then writes.
-- `change` has `required_tuples` and `absent_tuples`, the preconditions about tuples, in columns as an
-- operation of `run_bundle`; `tuple_filters` and `attribute_filters`, lists for `filter_stripes`; and
-- `create_tuples` and `set_attributes` of an operation of `run_bundle`. `seen` is the snapshot since
-- which nothing of the tenant may have changed, with the rest of its token in `seen_timeline`,
-- `seen_change`, `seen_before` and `seen_last` (as `is_logged_otherwise` takes it); null when there is
-- no such precondition.
-- `pinned_version` must be a version and `expected_head` the head, if they are given.
--
-- Returns one row. `outcome` is
-- * `written`: `snapshot`, `xid` (null when nothing changed) and `timeline` make up the snap token;
-- * `failed`: `missing` and `present` are the positions from 1 on of the tuples whose preconditions do
--   not hold, and `is_changed` tells whether something changed after `seen`;
-- * `unreadable`: `seen` cannot be read, and the columns from `is_future` on say why;
-- * `no_tenant`, `no_version`, or `other_head`, where `head` is the true one.
-- If it is not `written`, nothing was done.
-- Errors: raises an exception when the isolation level is not read committed, and fails with
-- `serialization_failure` when a transaction without the locks below broke a precondition meanwhile.
--
-- Locks, before the changes, until the transaction ends. With `seen`, or if a filter leaves keys open:
-- the advisory lock of the tenant, exclusively. Otherwise the same lock, shared; then the stripes of
-- all keys in ascending order, shared for tuples that are created or required, and exclusive for all
-- others. So no other writer breaks a precondition after it was decided. The snapshot comes last, as
-- in `write_data`, and the same statement looks at the preconditions again.
create function change_data(
  tenant_id text,
  pinned_version text,
  expected_head text,
  seen pg_snapshot,
  seen_timeline integer,
  seen_change xid8,
  seen_before xid8,
  seen_last text,
  change jsonb
)
returns table (
  outcome text, head text, missing integer[], present integer[], is_changed boolean,
  is_future boolean, is_lost boolean, is_expired boolean, is_before_tenant boolean,
  is_partial boolean, snapshot pg_snapshot, xid xid8, timeline integer
)
language plpgsql volatile
as $$
#variable_conflict use_column
declare
  deleted_stripes constant integer[] :=
    filter_stripes(change -> 'tuple_filters', change -> 'attribute_filters');
  is_alone constant boolean := seen is not null or deleted_stripes is null;
  number_here constant bigint := lock_tenant(tenant_id, is_alone);
  timeline_here integer;
  logged integer := 0;
  filter jsonb;
  columns jsonb;
begin
  if number_here is null then
    outcome := 'no_tenant';
    return next;
    return;
  end if;
  if not is_alone then
    perform lock_stripes(
      number_here,
      array(
        select listed_tuple_stripes(change -> 'required_tuples')
        union
        select listed_tuple_stripes(change -> 'create_tuples')
      ),
      array(
        select stripe from unnest(deleted_stripes) as deleted (stripe)
        union
        select listed_tuple_stripes(change -> 'absent_tuples')
        union
        select listed_attribute_stripes(change -> 'set_attributes')
      )
    );
  end if;

  select tenants.head_version into head from tenants where tenants.number = number_here;
  if expected_head is not null and head is distinct from expected_head then
    outcome := 'other_head';
    return next;
    return;
  end if;
  if pinned_version is not null and not exists (
    select from schemas
    where schemas.tenant = number_here and schemas.version = pinned_version
  ) then
    outcome := 'no_version';
    return next;
    return;
  end if;

  -- Before the horizon is read: a log that the horizon leaves whole then was whole here.
  is_changed := seen is not null and is_changed_since(number_here, seen);
  select pg_snapshot_xmax(seen) > pg_snapshot_xmax(pg_current_snapshot())
      or not pg_visible_in_snapshot(seen_change, pg_current_snapshot()),
    seen_timeline <> current_timeline()
      and is_lost(number_here, seen_timeline, seen_change, seen_before),
    pg_snapshot_xmin(seen) < installation.horizon,
    not pg_visible_in_snapshot(tenants.created_xid, seen),
    is_logged_otherwise(number_here, seen_change, seen_last),
    missing_tuples(number_here, change -> 'required_tuples'),
    present_tuples(number_here, change -> 'absent_tuples')
  into is_future, is_lost, is_expired, is_before_tenant, is_partial, missing, present
  from installation, tenants
  where tenants.number = number_here;
  if is_future or is_lost or is_expired or is_before_tenant or is_partial then
    outcome := 'unreadable';
    return next;
    return;
  end if;
  if is_changed or cardinality(missing) > 0 or cardinality(present) > 0 then
    outcome := 'failed';
    return next;
    return;
  end if;

  timeline_here := note_timeline();
  for filter in select value from jsonb_array_elements(change -> 'tuple_filters') loop
    logged := delete_tuples(
      number_here, logged, filter ->> 'entity_type', text_array(filter -> 'entity_ids'),
      filter ->> 'relation', filter ->> 'subject_type', text_array(filter -> 'subject_ids'),
      filter ->> 'subject_relation'
    );
  end loop;
  for filter in select value from jsonb_array_elements(change -> 'attribute_filters') loop
    logged := delete_attributes(
      number_here, logged, filter ->> 'entity_type', text_array(filter -> 'entity_ids'),
      text_array(filter -> 'names')
    );
  end loop;
  columns := change -> 'create_tuples';
  logged := create_tuples(
    number_here, logged, text_array(columns -> 0), text_array(columns -> 1),
    text_array(columns -> 2), text_array(columns -> 3), text_array(columns -> 4),
    text_array(columns -> 5)
  );
  columns := change -> 'set_attributes';
  perform set_attributes(
    number_here, logged, text_array(columns -> 0), text_array(columns -> 1),
    text_array(columns -> 2), text_array(columns -> 3), text_array(columns -> 4)
  );

  select pg_current_snapshot(),
    missing_tuples(number_here, change -> 'required_tuples'),
    present_tuples(number_here, change -> 'absent_tuples'),
    seen is not null and is_changed_since(number_here, seen)
  into snapshot, missing, present, is_changed;
  if is_changed or cardinality(missing) > 0 or cardinality(present) > 0 then
    raise exception 'another transaction broke a precondition'
      using errcode = 'serialization_failure';
  end if;
  outcome := 'written';
  xid := pg_current_xact_id_if_assigned();
  timeline := timeline_here;
  return next;
end
$$;

revoke execute on function is_logged_otherwise, change_data from public;
