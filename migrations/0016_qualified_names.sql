-- Up Migration

-- Functions that applications call run with the rights of Pemba. If they looked names up in the schema of the
-- tables, a role that may make functions there could have its own run with these rights (docs/security.md). So in
-- what they call each name of Pemba has its schema, and every other name is one of Postgres. The name of the
-- schema is known only here: it takes the place of `:"tables"`. Otherwise the functions are those of the files before.
do $migration$
declare
  definition text;
begin
  foreach definition in array array[
    -- Returns the last timeline that the data know of, or null when they know none: a standby cannot
    -- tell which timeline it follows. Takes no lock.
    $text$
create or replace function :"tables".standby_timeline() returns integer
language sql stable parallel safe
as $$
  select max(timelines.timeline)
  from :"tables".timelines
  join :"tables".installation on installation.system_identifier = timelines.system_identifier
$$
    $text$,

    -- Returns the timeline that the server writes now; of a standby, the last that its data know of.
    -- The control file lags behind after a promotion, so the write-ahead log is asked. Takes no lock.
    $text$
create or replace function :"tables".current_timeline() returns integer
language sql volatile parallel safe
as $$
  select case
    when pg_is_in_recovery() then :"tables".standby_timeline()
    else ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::integer
  end
$$
    $text$,

    -- Returns whether another transaction has changed something of the tenant that the snapshot does not
    -- show. Takes no lock. What this transaction has logged is stepped over: it may be a lot.
    -- Its plan is kept, also when the caller plans each run.
    $text$
create or replace function :"tables".is_changed_since(tenant_number bigint, seen pg_snapshot)
returns boolean
language plpgsql volatile
set plan_cache_mode = force_generic_plan
as $$
declare
  -- A delete that finds nothing takes no id.
  mine constant xid8 := pg_current_xact_id_if_assigned();
begin
  return exists (
    select from :"tables".changes
    where changes.tenant = tenant_number
      and changes.xid >= pg_snapshot_xmax(seen)
      and (mine is null or changes.xid < mine)
  )
  or exists (
    select from :"tables".changes
    where changes.tenant = tenant_number
      and changes.xid >= pg_snapshot_xmax(seen)
      and changes.xid > mine
  )
  or exists (
    select
    from pg_snapshot_xip(seen) as running (xid)
    cross join lateral (
      select from :"tables".changes
      where changes.tenant = tenant_number and changes.xid = running.xid
      limit 1
    ) as ended
    where running.xid is distinct from mine
  );
end
$$
    $text$,

    -- Returns whether a stored tuple took the place of one that the snapshot may show.
    $text$
create or replace function :"tables".is_replaced_tuple(stored :"tables".relationships, seen pg_snapshot)
returns boolean
language sql stable
as $$
  select not pg_visible_in_snapshot(stored.created_xid, seen)
    and exists (
      select
      from :"tables".changes as gone
      where gone.entity_id = stored.entity_id
        and gone.relation = stored.relation
        and gone.entity_type = stored.entity_type
        and gone.tenant + 0 = stored.tenant
        and gone.subject_type = stored.subject_type
        and gone.subject_relation = stored.subject_relation
        and gone.subject_id = stored.subject_id
        and gone.operation = 'delete'
        and gone.relation is not null
        and not pg_visible_in_snapshot(gone.xid, seen)
    )
$$
    $text$,

    -- Returns whether a stored attribute took the place of one that the snapshot may show.
    $text$
create or replace function :"tables".is_replaced_attribute(stored :"tables".attributes, seen pg_snapshot)
returns boolean
language sql stable
as $$
  select not pg_visible_in_snapshot(stored.created_xid, seen)
    and exists (
      select
      from :"tables".changes as gone
      where gone.entity_id = stored.entity_id
        and gone.attribute = stored.attribute
        and gone.entity_type = stored.entity_type
        and gone.tenant + 0 = stored.tenant
        and gone.operation = 'delete'
        and gone.attribute is not null
        and not pg_visible_in_snapshot(gone.xid, seen)
    )
$$
    $text$,

    -- Fails with PB006 when something that these labels name is derived in the tenant. The detail is a list
    -- of `label` and `source`, the table. Takes no lock: a write that began before a map was made may still
    -- be done after it.
    $text$
create or replace function :"tables".refuse_derived(tenant_id text, labels text[]) returns void
language plpgsql volatile
as $$
declare
  refused jsonb;
begin
  select jsonb_agg(jsonb_build_object('label', derived.label, 'source', maps.source))
    into refused
  from :"tables".derived
  join :"tables".maps on maps.name = derived.map
  where derived.label = any(labels) and derived.tenant in ('', tenant_id);
  if refused is not null then
    raise exception using
      errcode = 'PB006',
      message = format(
        '`%s` is derived from the table %s', refused #>> '{0,label}', refused #>> '{0,source}'
      ),
      detail = refused,
      hint = 'change the rows of the table';
  end if;
end
$$
    $text$,

    -- Fails with serialization_failure when a later transaction has made one of those whose deletion this one
    -- has logged from `first_ordinal` on. Takes no lock. Its plan is kept, also when the caller plans each run.
    $text$
create or replace function :"tables".refuse_later_creates(tenant_number bigint, first_ordinal integer)
returns void
language plpgsql volatile
set plan_cache_mode = force_generic_plan
as $$
begin
  if exists (
    select
    from :"tables".changes
    where changes.tenant = tenant_number
      and changes.xid = pg_current_xact_id()
      and changes.ordinal >= first_ordinal
      and changes.operation = 'delete'
      and changes.created_xid > changes.xid
  ) then
    perform :"tables".refuse_inversion();
  end if;
end
$$
    $text$,

    -- Fails with serialization_failure when a later transaction has deleted one of the keys that this one
    -- has created and logged from `first_ordinal` on. Takes no lock.
    $text$
create or replace function :"tables".refuse_later_deletes(tenant_number bigint, first_ordinal integer)
returns void
language plpgsql volatile
as $$
#variable_conflict use_column
begin
  if not exists (
    select from :"tables".changes
    where changes.tenant = tenant_number and changes.xid > pg_current_xact_id()
  ) then
    return;
  end if;
  if exists (
    select
    from :"tables".changes as made
    where made.tenant = tenant_number
      and made.xid = pg_current_xact_id()
      and made.ordinal >= first_ordinal
      and made.operation = 'create'
      and (
        exists (
          select
          from :"tables".changes as later
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
          from :"tables".changes as later
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
    perform :"tables".refuse_inversion();
  end if;
end
$$
    $text$,

    -- Sets attributes, and logs those whose value or type changes: an overwritten one as a delete and a
    -- create. Each key stands in the lists once.
    -- Locks: the rows it changes, in the order of their keys. It waits for another transaction that changes
    -- the same attribute.
    -- Errors: serialization_failure, when a later transaction has changed one of them.
    --
    -- The rows are locked before they are changed, and the lock returns them as they are after the wait. An
    -- update that waits itself would log the value that it found before.
    $text$
create or replace function :"tables".set_attributes(
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
      join :"tables".attributes as stored
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
      update :"tables".attributes as stored
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
    insert into :"tables".changes (
      tenant, xid, ordinal, operation, entity_type, entity_id, attribute, value_type, value,
      created_xid, bytes
    )
    select tenant_number, created_xid, position, 'delete', entity_type, entity_id, attribute,
      former_value_type, former_value, former_created_xid,
      :"tables".logged_bytes(entity_id, former_value)
    from numbered
    union all
    select tenant_number, created_xid, position + 1, 'create', entity_type, entity_id, attribute,
      value_type, value, null, :"tables".logged_bytes(entity_id, value)
    from numbered;
    get diagnostics logged = row_count;
    if logged > 0 and :"tables".is_overtaken() then
      perform :"tables".refuse_later_creates(tenant_number, next_ordinal);
    end if;
    next_ordinal := next_ordinal + logged;
    overwrites := logged / 2;

    with created as (
      insert into :"tables".attributes (
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
    insert into :"tables".changes (
      tenant, xid, ordinal, operation, entity_type, entity_id, attribute, value_type, value, bytes
    )
    select tenant_number, created_xid, next_ordinal - 1 + row_number() over (), 'create',
      entity_type, entity_id, attribute, value_type, value, :"tables".logged_bytes(entity_id, value)
    from created;
    get diagnostics logged = row_count;
    next_ordinal := next_ordinal + logged;

    -- The others have the value already, or another transaction has just made them with its own.
    exit when overwrites + logged = cardinality(entity_types) or not exists (
      select
      from unnest(entity_types, entity_ids, names, value_types, new_values)
        as wanted (entity_type, entity_id, attribute, value_type, value)
      left join :"tables".attributes as stored
        on stored.entity_id = wanted.entity_id
        and stored.attribute = wanted.attribute
        and stored.entity_type = wanted.entity_type
        and stored.tenant = tenant_number
      where (stored.value_type, stored.value)
        is distinct from (wanted.value_type, wanted.value::jsonb)
    );
  end loop;

  if :"tables".is_overtaken() then
    perform :"tables".refuse_later_deletes(tenant_number, first_ordinal);
  end if;
  return next_ordinal;
end
$$
    $text$,

    -- Does the work of `delete_tuples` for a filter that names one entity, one subject and the relation between
    -- them. An empty `wanted_subject_relation` stands for the subject itself and for all its relations. The
    -- plans of its statements are kept, so it costs a third of what `delete_matching_tuples` costs.
    --
    -- In the index by entity, tuples with the subject itself come before those with its relations, and there
    -- may be thousands of them. So each of the two kinds is looked for in a statement of its own.
    $text$
create or replace function :"tables".delete_tuples_between(
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
    delete from :"tables".relationships
    where entity_id = wanted_entity_id
      and relation = wanted_relation
      and entity_type = wanted_entity_type
      and tenant = tenant_number
      and subject_type = wanted_subject_type
      and subject_relation = wanted_subject_relation
      and subject_id = wanted_subject_id
    returning created_xid into former_xid;
    if found then
      insert into :"tables".changes (
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
        delete from :"tables".relationships
        where entity_id = wanted_entity_id
          and relation = wanted_relation
          and entity_type = wanted_entity_type
          and tenant = tenant_number
          and subject_type = wanted_subject_type
          and subject_relation > ''
          and subject_id = wanted_subject_id
        returning subject_relation, created_xid
      )
      insert into :"tables".changes (
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
    if next_ordinal > begin_ordinal and :"tables".is_overtaken() then
      perform :"tables".refuse_later_creates(tenant_number, begin_ordinal);
    end if;
    exit when :"tables".is_same_state(seen) or not :"tables".is_changed_since(tenant_number, seen);
    exit when not exists (
      select from :"tables".relationships as stored
      where entity_id = wanted_entity_id
        and relation = wanted_relation
        and entity_type = wanted_entity_type
        and tenant = tenant_number
        and subject_type = wanted_subject_type
        and subject_relation = wanted_subject_relation
        and subject_id = wanted_subject_id
        and :"tables".is_replaced_tuple(stored, seen)
    )
    and not exists (
      select from :"tables".relationships as stored
      where wanted_subject_relation = ''
        and entity_id = wanted_entity_id
        and relation = wanted_relation
        and entity_type = wanted_entity_type
        and tenant = tenant_number
        and subject_type = wanted_subject_type
        and subject_relation > ''
        and subject_id = wanted_subject_id
        and :"tables".is_replaced_tuple(stored, seen)
    );
  end loop;
  return next_ordinal;
end
$$
    $text$,

    -- Does the work of `delete_tuples` for any filter. Each run is planned with its values, since the index
    -- that serves depends on which values are given. Tuples whose labels are in `kept` are left alone. If it is
    -- empty, the condition on it is no part of the plans.
    $text$
create or replace function :"tables".delete_matching_tuples(
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
      delete from :"tables".relationships
      where tenant = tenant_number
        and (wanted_entity_type = '' or entity_type = wanted_entity_type)
        and (cardinality(wanted_entity_ids) = 0 or entity_id = any(wanted_entity_ids))
        and (wanted_relation = '' or relation = wanted_relation)
        and (wanted_subject_type = '' or subject_type = wanted_subject_type)
        and (cardinality(wanted_subject_ids) = 0 or subject_id = any(wanted_subject_ids))
        and (wanted_subject_relation = '' or subject_relation = wanted_subject_relation)
        and (
          cardinality(kept) = 0
          or :"tables".tuple_label(entity_type, relation, subject_type, subject_relation) <> all(kept)
        )
      returning entity_type, entity_id, relation, subject_type, subject_id, subject_relation,
        created_xid
    )
    insert into :"tables".changes (
      tenant, xid, ordinal, operation, entity_type, entity_id, relation, subject_type, subject_id,
      subject_relation, created_xid
    )
    select tenant_number, pg_current_xact_id(), next_ordinal - 1 + row_number() over (), 'delete',
      entity_type, entity_id, relation, subject_type, subject_id, subject_relation, created_xid
    from deleted;
    get diagnostics logged = row_count;
    if logged > 0 and :"tables".is_overtaken() then
      perform :"tables".refuse_later_creates(tenant_number, next_ordinal);
    end if;
    next_ordinal := next_ordinal + logged;
    exit when :"tables".is_same_state(seen) or not :"tables".is_changed_since(tenant_number, seen);
    exit when not exists (
      select from :"tables".relationships as stored
      where tenant = tenant_number
        and (wanted_entity_type = '' or entity_type = wanted_entity_type)
        and (cardinality(wanted_entity_ids) = 0 or entity_id = any(wanted_entity_ids))
        and (wanted_relation = '' or relation = wanted_relation)
        and (wanted_subject_type = '' or subject_type = wanted_subject_type)
        and (cardinality(wanted_subject_ids) = 0 or subject_id = any(wanted_subject_ids))
        and (wanted_subject_relation = '' or subject_relation = wanted_subject_relation)
        and (
          cardinality(kept) = 0
          or :"tables".tuple_label(entity_type, relation, subject_type, subject_relation) <> all(kept)
        )
        and :"tables".is_replaced_tuple(stored, seen)
    );
  end loop;
  return next_ordinal;
end
$$
    $text$,

    -- Deletes the tuples that a filter lets through, and logs them. An empty text or list of the filter
    -- lets everything through.
    -- Locks: the rows it deletes. It waits for another transaction that deletes the same tuple.
    -- Errors: serialization_failure, when a later transaction has made one of them, and PB006.
    --
    -- It looks again when something of the tenant has changed meanwhile: a row that another transaction
    -- replaced while this one waited for it is another row, which the statement does not see.
    $text$
create or replace function :"tables".delete_tuples(
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
  kept constant text[] := :"tables".kept_tuples(
    tenant_number, wanted_entity_type, wanted_relation, wanted_subject_type, wanted_subject_relation
  );
begin
  -- The filter names the relation, so `kept` is empty.
  if cardinality(wanted_entity_ids) = 1 and cardinality(wanted_subject_ids) = 1
    and wanted_entity_type <> '' and wanted_relation <> '' and wanted_subject_type <> ''
  then
    return :"tables".delete_tuples_between(
      tenant_number, first_ordinal, wanted_entity_type, wanted_entity_ids[1], wanted_relation,
      wanted_subject_type, wanted_subject_ids[1], wanted_subject_relation
    );
  end if;
  return :"tables".delete_matching_tuples(
    tenant_number, first_ordinal, wanted_entity_type, wanted_entity_ids, wanted_relation,
    wanted_subject_type, wanted_subject_ids, wanted_subject_relation, kept
  );
end
$$
    $text$,

    -- Deletes the attributes that a filter lets through, and logs them. An empty text or list of the
    -- filter lets everything through.
    -- Locks, errors, the second look, and how it is planned: as `delete_matching_tuples`.
    $text$
create or replace function :"tables".delete_attributes(
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
  kept constant text[] := :"tables".kept_attributes(tenant_number, wanted_entity_type, wanted_names);
begin
  if cardinality(wanted_entity_ids) = 0 then
    perform set_config('enable_seqscan', 'on', true);
  end if;
  loop
    seen := pg_current_snapshot();
    with deleted as (
      delete from :"tables".attributes
      where tenant = tenant_number
        and (wanted_entity_type = '' or entity_type = wanted_entity_type)
        and (cardinality(wanted_entity_ids) = 0 or entity_id = any(wanted_entity_ids))
        and (cardinality(wanted_names) = 0 or attribute = any(wanted_names))
        and (cardinality(kept) = 0 or entity_type || '$' || attribute <> all(kept))
      returning entity_type, entity_id, attribute, value_type, value, created_xid
    )
    insert into :"tables".changes (
      tenant, xid, ordinal, operation, entity_type, entity_id, attribute, value_type, value,
      created_xid, bytes
    )
    select tenant_number, pg_current_xact_id(), next_ordinal - 1 + row_number() over (), 'delete',
      entity_type, entity_id, attribute, value_type, value, created_xid,
      :"tables".logged_bytes(entity_id, value)
    from deleted;
    get diagnostics logged = row_count;
    if logged > 0 and :"tables".is_overtaken() then
      perform :"tables".refuse_later_creates(tenant_number, next_ordinal);
    end if;
    next_ordinal := next_ordinal + logged;
    exit when :"tables".is_same_state(seen) or not :"tables".is_changed_since(tenant_number, seen);
    exit when not exists (
      select from :"tables".attributes as stored
      where tenant = tenant_number
        and (wanted_entity_type = '' or entity_type = wanted_entity_type)
        and (cardinality(wanted_entity_ids) = 0 or entity_id = any(wanted_entity_ids))
        and (cardinality(wanted_names) = 0 or attribute = any(wanted_names))
        and (cardinality(kept) = 0 or entity_type || '$' || attribute <> all(kept))
        and :"tables".is_replaced_attribute(stored, seen)
    );
  end loop;
  return next_ordinal;
end
$$
    $text$,

    -- Deletes the listed tuples that are there, and logs them.
    -- Locks: the rows it deletes, in the order of their keys. It waits for another transaction that deletes
    -- the same tuple.
    -- Errors, and the second look: as `delete_tuples`.
    $text$
create or replace function :"tables".delete_listed_tuples(
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
      delete from :"tables".relationships
      where entity_id = entity_ids[1]
        and relation = relations[1]
        and entity_type = entity_types[1]
        and tenant = tenant_number
        and subject_type = subject_types[1]
        and subject_relation = subject_relations[1]
        and subject_id = subject_ids[1]
      returning created_xid into former_xid;
      if found then
        insert into :"tables".changes (
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
        delete from :"tables".relationships as stored
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
      insert into :"tables".changes (
        tenant, xid, ordinal, operation, entity_type, entity_id, relation, subject_type,
        subject_id, subject_relation, created_xid
      )
      select tenant_number, pg_current_xact_id(), next_ordinal - 1 + row_number() over (),
        'delete', entity_type, entity_id, relation, subject_type, subject_id, subject_relation,
        created_xid
      from deleted;
    end if;
    get diagnostics logged = row_count;
    if logged > 0 and :"tables".is_overtaken() then
      perform :"tables".refuse_later_creates(tenant_number, next_ordinal);
    end if;
    next_ordinal := next_ordinal + logged;
    exit when :"tables".is_same_state(seen) or not :"tables".is_changed_since(tenant_number, seen);
    exit when not exists (
      select
      from unnest(
        entity_types, entity_ids, relations, subject_types, subject_ids, subject_relations
      ) as wanted (entity_type, entity_id, relation, subject_type, subject_id, subject_relation)
      join :"tables".relationships as stored
        on stored.entity_id = wanted.entity_id
        and stored.relation = wanted.relation
        and stored.entity_type = wanted.entity_type
        and stored.tenant = tenant_number
        and stored.subject_type = wanted.subject_type
        and stored.subject_relation = wanted.subject_relation
        and stored.subject_id = wanted.subject_id
      where :"tables".is_replaced_tuple(stored, seen)
    );
  end loop;
  return next_ordinal;
end
$$
    $text$,

    -- Deletes the listed attributes that are there, and logs them.
    -- Locks: the rows it deletes, in the order of their keys. It waits for another transaction that changes
    -- the same attribute.
    -- Errors, and the second look: as `delete_tuples`.
    $text$
create or replace function :"tables".delete_listed_attributes(
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
      delete from :"tables".attributes as stored
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
    insert into :"tables".changes (
      tenant, xid, ordinal, operation, entity_type, entity_id, attribute, value_type, value,
      created_xid, bytes
    )
    select tenant_number, pg_current_xact_id(), next_ordinal - 1 + row_number() over (), 'delete',
      entity_type, entity_id, attribute, value_type, value, created_xid,
      :"tables".logged_bytes(entity_id, value)
    from deleted;
    get diagnostics logged = row_count;
    if logged > 0 and :"tables".is_overtaken() then
      perform :"tables".refuse_later_creates(tenant_number, next_ordinal);
    end if;
    next_ordinal := next_ordinal + logged;
    exit when :"tables".is_same_state(seen) or not :"tables".is_changed_since(tenant_number, seen);
    exit when not exists (
      select
      from unnest(entity_types, entity_ids, names) as wanted (entity_type, entity_id, attribute)
      join :"tables".attributes as stored
        on stored.entity_id = wanted.entity_id
        and stored.attribute = wanted.attribute
        and stored.entity_type = wanted.entity_type
        and stored.tenant = tenant_number
      where :"tables".is_replaced_attribute(stored, seen)
    );
  end loop;
  return next_ordinal;
end
$$
    $text$,

    $text$
create or replace function :"tables".kept_tuples(
  tenant_number bigint,
  wanted_entity_type text,
  wanted_relation text,
  wanted_subject_type text,
  wanted_subject_relation text
)
returns text[]
language plpgsql stable
set plan_cache_mode = force_generic_plan
as $$
declare
  tenant_id text;
  labels text[];
begin
  if not :"tables".may_derive() then
    return '{}';
  end if;
  tenant_id := (select tenants.id from :"tables".tenants where tenants.number = tenant_number);
  labels := array(
    select derived.label
    from :"tables".derived
    where derived.attribute = ''
      and derived.tenant in ('', tenant_id)
      and wanted_entity_type in ('', derived.entity_type)
      and wanted_relation in ('', derived.relation)
      and wanted_subject_type in ('', derived.subject_type)
      and wanted_subject_relation in ('', derived.subject_relation)
  );
  if wanted_relation <> '' and cardinality(labels) > 0 then
    perform :"tables".refuse_derived(tenant_id, labels);
  end if;
  return labels;
end
$$
    $text$,

    $text$
create or replace function :"tables".kept_attributes(
  tenant_number bigint, wanted_entity_type text, wanted_names text[]
)
returns text[]
language plpgsql stable
set plan_cache_mode = force_generic_plan
as $$
declare
  tenant_id text;
  labels text[];
begin
  if not :"tables".may_derive() then
    return '{}';
  end if;
  tenant_id := (select tenants.id from :"tables".tenants where tenants.number = tenant_number);
  labels := array(
    select derived.label
    from :"tables".derived
    where derived.attribute <> ''
      and derived.tenant in ('', tenant_id)
      and wanted_entity_type in ('', derived.entity_type)
      and (cardinality(wanted_names) = 0 or derived.attribute = any(wanted_names))
  );
  if cardinality(wanted_names) > 0 and cardinality(labels) > 0 then
    perform :"tables".refuse_derived(tenant_id, labels);
  end if;
  return labels;
end
$$
    $text$,

    -- Creates the tuples that are not there yet, and logs them.
    -- Locks: the rows it creates, in the order of their keys. It waits for another transaction that creates
    -- or deletes the same tuple; the order keeps two such transactions from waiting for each other.
    -- Errors: serialization_failure, when a later transaction has deleted one of them.
    $text$
create or replace function :"tables".create_tuples(
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
    insert into :"tables".relationships (
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
    insert into :"tables".changes (
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
      insert into :"tables".relationships (
        tenant, entity_type, entity_id, relation, subject_type, subject_id, subject_relation,
        created_xid
      )
      select tenant_number, entity_type, entity_id, relation, subject_type, subject_id,
        subject_relation, pg_current_xact_id()
      from :"tables".listed_tuples(
        entity_types, entity_ids, relations, subject_types, subject_ids, subject_relations
      )
      order by entity_id collate "C", relation collate "C", entity_type collate "C",
        subject_type collate "C", subject_relation collate "C", subject_id collate "C";
      insert into :"tables".changes (
        tenant, xid, ordinal, operation, entity_type, entity_id, relation, subject_type, subject_id,
        subject_relation
      )
      select tenant_number, pg_current_xact_id(), first_ordinal - 1 + position, 'create',
        entity_type, entity_id, relation, subject_type, subject_id, subject_relation
      from :"tables".listed_tuples(
        entity_types, entity_ids, relations, subject_types, subject_ids, subject_relations
      );
      next_ordinal := first_ordinal + cardinality(entity_types);
    exception when unique_violation then
      null;
    end;
  end if;

  if next_ordinal is null then
    with created as (
      insert into :"tables".relationships (
        tenant, entity_type, entity_id, relation, subject_type, subject_id, subject_relation,
        created_xid
      )
      select tenant_number, entity_type, entity_id, relation, subject_type, subject_id,
        subject_relation, pg_current_xact_id()
      from :"tables".listed_tuples(
        entity_types, entity_ids, relations, subject_types, subject_ids, subject_relations
      )
      order by entity_id collate "C", relation collate "C", entity_type collate "C",
        subject_type collate "C", subject_relation collate "C", subject_id collate "C"
      on conflict do nothing
      returning entity_type, entity_id, relation, subject_type, subject_id, subject_relation,
        created_xid
    )
    insert into :"tables".changes (
      tenant, xid, ordinal, operation, entity_type, entity_id, relation, subject_type, subject_id,
      subject_relation
    )
    select tenant_number, created_xid, first_ordinal - 1 + row_number() over (), 'create',
      entity_type, entity_id, relation, subject_type, subject_id, subject_relation
    from created;
    get diagnostics logged = row_count;
    next_ordinal := first_ordinal + logged;
  end if;

  if :"tables".is_overtaken() then
    perform :"tables".refuse_later_deletes(tenant_number, first_ordinal);
  end if;
  return next_ordinal;
end
$$
    $text$
  ]
  loop
    execute replace(definition, ':"tables"', quote_ident(current_schema()));
  end loop;
end
$migration$;
