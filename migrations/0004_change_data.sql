-- Up Migration

-- Returns the stripes of the keys that filters name, or null when one of them leaves a key open, or
-- when there are so many keys that they are likely to cover all stripes. A filter of tuples is an
-- object with `entity_type`, `entity_ids`, `relation`, `subject_type`, `subject_ids` and
-- `subject_relation`; one of attributes has `entity_type`, `entity_ids` and `names`. An empty text or
-- list lets everything through.
create function filter_stripes(tuple_filters jsonb, attribute_filters jsonb) returns integer[]
language plpgsql immutable
as $$
declare
  named_keys_max constant bigint := 1000;
  is_named boolean;
begin
  select coalesce(bool_and(filters.keys > 0) and sum(filters.keys) <= named_keys_max, true)
    into is_named
  from (
    select case when filter ->> 'relation' = '' then 0 else
      jsonb_array_length(filter -> 'entity_ids')::bigint * jsonb_array_length(filter -> 'subject_ids')
    end as keys
    from jsonb_array_elements(tuple_filters) as tuples (filter)
    union all
    select jsonb_array_length(filter -> 'entity_ids')::bigint * jsonb_array_length(filter -> 'names')
    from jsonb_array_elements(attribute_filters) as attributes (filter)
  ) as filters;
  if not is_named then
    return null;
  end if;
  return array(
    select tuple_stripe(entities.id, filter ->> 'relation', subjects.id)
    from jsonb_array_elements(tuple_filters) as tuples (filter),
      unnest(text_array(filter -> 'entity_ids')) as entities (id),
      unnest(text_array(filter -> 'subject_ids')) as subjects (id)
    union
    select attribute_stripe(entities.id, names.name)
    from jsonb_array_elements(attribute_filters) as attributes (filter),
      unnest(text_array(filter -> 'entity_ids')) as entities (id),
      unnest(text_array(filter -> 'names')) as names (name)
  );
end
$$;

-- Returns which of the listed tuples are not there, by their positions from 1 on. What the own
-- transaction deleted counts as there. `tuples` has columns, as an operation of `run_bundle`. Takes
-- no lock.
create function missing_tuples(tenant_number bigint, tuples jsonb) returns integer[]
language sql stable
as $$
  select array(
    select wanted.position::integer
    from unnest(
      text_array(tuples -> 0), text_array(tuples -> 1), text_array(tuples -> 2),
      text_array(tuples -> 3), text_array(tuples -> 4), text_array(tuples -> 5)
    ) with ordinality as wanted (
      entity_type, entity_id, relation, subject_type, subject_id, subject_relation, position
    )
    where not exists (
      select from relationships as stored
      where stored.entity_id = wanted.entity_id
        and stored.relation = wanted.relation
        and stored.entity_type = wanted.entity_type
        and stored.tenant = tenant_number
        and stored.subject_type = wanted.subject_type
        and stored.subject_relation = wanted.subject_relation
        and stored.subject_id = wanted.subject_id
    )
    and not exists (
      select from changes as own
      where own.operation = 'delete'
        and own.relation is not null
        and own.entity_id = wanted.entity_id
        and own.relation = wanted.relation
        and own.entity_type = wanted.entity_type
        and (own.tenant + 0) = tenant_number
        and own.subject_type = wanted.subject_type
        and own.subject_relation = wanted.subject_relation
        and own.subject_id = wanted.subject_id
        and own.xid = pg_current_xact_id_if_assigned()
    )
    order by wanted.position
  )
$$;

-- Returns which of the listed tuples are there, by their positions from 1 on. What the own
-- transaction created does not count. `tuples` is as in `missing_tuples`. Takes no lock.
create function present_tuples(tenant_number bigint, tuples jsonb) returns integer[]
language sql stable
as $$
  select array(
    select unwanted.position::integer
    from unnest(
      text_array(tuples -> 0), text_array(tuples -> 1), text_array(tuples -> 2),
      text_array(tuples -> 3), text_array(tuples -> 4), text_array(tuples -> 5)
    ) with ordinality as unwanted (
      entity_type, entity_id, relation, subject_type, subject_id, subject_relation, position
    )
    where exists (
      select from relationships as stored
      where stored.entity_id = unwanted.entity_id
        and stored.relation = unwanted.relation
        and stored.entity_type = unwanted.entity_type
        and stored.tenant = tenant_number
        and stored.subject_type = unwanted.subject_type
        and stored.subject_relation = unwanted.subject_relation
        and stored.subject_id = unwanted.subject_id
        and stored.created_xid is distinct from pg_current_xact_id_if_assigned()
    )
    order by unwanted.position
  )
$$;

-- Changes the data of a tenant in one transaction, if preconditions hold: deletes, then writes.
-- `change` has `required_tuples` and `absent_tuples`, the preconditions about tuples, in columns as an
-- operation of `run_bundle`; `tuple_filters` and `attribute_filters`, lists for `filter_stripes`; and
-- `create_tuples` and `set_attributes` of an operation of `run_bundle`. `seen` is the snapshot since
-- which nothing of the tenant may have changed, with the rest of its token in `seen_timeline`,
-- `seen_change`, `seen_before` and `seen_logged`; null when there is no such precondition.
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
  seen_logged integer,
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
    seen_logged >= 0 and exists (
      select from changes
      where changes.tenant = number_here
        and changes.xid = seen_change
        and changes.ordinal >= seen_logged
    ),
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

-- Makes a text the head of the tenant's schema; with `base`, only when `base` is still the head, or
-- when there is none yet and `base` is empty, which is new here.
-- Returns one row. `outcome` is `written`, `no_tenant`, `other_head`, or `behind` when
-- `new_version` does not come after the head; `head` is the head before the call.
-- Locks: the row of the tenant, until the transaction ends, so that writers of one tenant's schema
-- follow one another.
create or replace function write_schema(tenant_id text, new_version text, new_text text, base text)
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
  elsif base is not null and coalesce(head, '') <> base then
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

revoke execute on function
  filter_stripes, missing_tuples, present_tuples, change_data
from public;
