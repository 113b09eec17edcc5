create table arrivals (
  number bigint not null,
  id text collate "C" not null,
  mover uuid not null,
  progress jsonb,
  constraint arrivals_pkey PRIMARY KEY (number),
  constraint arrivals_id_key UNIQUE (id)
);

create table attributes (
  tenant bigint not null,
  entity_type text collate "C" not null,
  entity_id text collate "C" not null,
  attribute text collate "C" not null,
  value_type text collate "C" not null,
  value jsonb not null,
  created_xid xid8 not null
)
with (
  fillfactor=80,
  autovacuum_vacuum_scale_factor=0.02,
  autovacuum_vacuum_insert_scale_factor=0.02,
  autovacuum_analyze_scale_factor=0.05
);
CREATE UNIQUE INDEX attributes_by_entity ON attributes USING btree (entity_id, attribute, entity_type, tenant);
CREATE INDEX attributes_by_name ON attributes USING btree (((tenant * 1)), entity_type, attribute, entity_id) WHERE ((tenant * 1) IS NOT NULL);

create table bundles (
  tenant bigint not null,
  name text collate "C" not null,
  payload jsonb not null,
  created_at timestamp with time zone not null default now(),
  constraint bundles_pkey PRIMARY KEY (tenant, name)
);

create table changes (
  tenant bigint not null,
  xid xid8 not null,
  ordinal integer not null,
  operation text collate "C" not null,
  entity_type text collate "C" not null,
  entity_id text collate "C" not null,
  relation text collate "C",
  subject_type text collate "C",
  subject_id text collate "C",
  subject_relation text collate "C",
  attribute text collate "C",
  value_type text collate "C",
  value jsonb,
  created_xid xid8,
  at timestamp with time zone not null default clock_timestamp(),
  bytes integer,
  constraint changes_pkey PRIMARY KEY (tenant, xid, ordinal)
)
with (
  autovacuum_vacuum_scale_factor=0.02,
  autovacuum_vacuum_insert_scale_factor=0.02
);
CREATE INDEX changes_deleted_tuples_by_entity ON changes USING btree (entity_id, relation, entity_type, ((tenant + 0)), subject_type, subject_relation, subject_id) WHERE ((operation = 'delete'::text) AND (relation IS NOT NULL));
CREATE INDEX changes_deleted_tuples_by_subject ON changes USING btree (subject_id, subject_type, ((tenant + 0)), subject_relation, entity_type, relation, entity_id) WHERE ((operation = 'delete'::text) AND (subject_id IS NOT NULL));
CREATE INDEX changes_deleted_attributes ON changes USING btree (entity_id, attribute, entity_type, ((tenant + 0))) WHERE ((operation = 'delete'::text) AND (attribute IS NOT NULL));
CREATE INDEX changes_deleted_attributes_by_name ON changes USING btree (((tenant * 1)), entity_type, attribute, entity_id) WHERE ((operation = 'delete'::text) AND (attribute IS NOT NULL) AND ((tenant * 1) IS NOT NULL));
CREATE INDEX changes_by_xid ON changes USING btree (xid, tenant) WHERE (ordinal = 0);

create table departures (
  number bigint not null,
  id text collate "C" not null,
  mover uuid not null,
  hidden jsonb,
  constraint departures_pkey PRIMARY KEY (number),
  constraint departures_id_key UNIQUE (id)
);

create table derived (
  label text collate "C" not null,
  tenant text collate "C" not null,
  map text collate "C" not null,
  entity_type text collate "C" not null,
  relation text collate "C" not null,
  subject_type text collate "C" not null,
  subject_relation text collate "C" not null,
  attribute text collate "C" not null,
  constraint derived_pkey PRIMARY KEY (label, tenant)
);
CREATE TRIGGER lock_maps BEFORE INSERT OR DELETE OR UPDATE OR TRUNCATE ON public.derived FOR EACH STATEMENT EXECUTE FUNCTION lock_maps();
CREATE TRIGGER note_derived AFTER INSERT OR DELETE OR UPDATE OR TRUNCATE ON public.derived FOR EACH STATEMENT EXECUTE FUNCTION note_derived();

create table directory (
  only_row boolean not null default true,
  id uuid not null default gen_random_uuid(),
  cluster text collate "C" not null,
  is_here boolean not null,
  constraint directory_only_row_check CHECK (only_row),
  constraint directory_pkey PRIMARY KEY (only_row)
);

create table horizons (
  system_identifier text collate "C" not null,
  database_oid oid not null,
  at timestamp with time zone not null,
  oldest_xid xid8 not null,
  constraint horizons_pkey PRIMARY KEY (system_identifier, database_oid, at)
);

create table installation (
  only_row boolean not null default true,
  system_identifier text collate "C" not null,
  database_oid oid not null,
  horizon xid8 not null default '0'::xid8,
  collected_at timestamp with time zone,
  token_secret text collate "C" not null default ((gen_random_uuid())::text || (gen_random_uuid())::text),
  constraint installation_only_row_check CHECK (only_row),
  constraint installation_pkey PRIMARY KEY (only_row)
);

create table maps (
  name text collate "C" not null,
  source text not null,
  definition jsonb not null,
  made_at timestamp with time zone not null default now(),
  constraint maps_pkey PRIMARY KEY (name)
);

create table moves (
  tenant text collate "C" not null,
  source text collate "C" not null,
  target text collate "C" not null,
  step text collate "C" not null default 'copying'::text,
  mover uuid not null,
  seen_at timestamp with time zone not null default now(),
  constraint moves_pkey PRIMARY KEY (tenant)
);

create table pemba_migrations (
  id integer not null default nextval('pemba_migrations_id_seq'::regclass),
  name character varying(255) not null,
  run_on timestamp without time zone not null,
  constraint pemba_migrations_pkey PRIMARY KEY (id)
);

create table placements (
  tenant text collate "C" not null,
  cluster text collate "C" not null,
  state text collate "C" not null,
  version uuid not null default gen_random_uuid(),
  changed_at timestamp with time zone not null default now(),
  name text collate "C" not null,
  created_at timestamp with time zone not null default now(),
  constraint placements_pkey PRIMARY KEY (tenant)
);
CREATE INDEX placements_unsettled ON placements USING btree (changed_at) WHERE (state <> 'placed'::text);

create table relationships (
  tenant bigint not null,
  entity_type text collate "C" not null,
  entity_id text collate "C" not null,
  relation text collate "C" not null,
  subject_type text collate "C" not null,
  subject_id text collate "C" not null,
  subject_relation text collate "C" not null,
  created_xid xid8 not null
)
with (
  autovacuum_vacuum_scale_factor=0.02,
  autovacuum_vacuum_insert_scale_factor=0.02,
  autovacuum_analyze_scale_factor=0.05
);
CREATE UNIQUE INDEX relationships_by_entity ON relationships USING btree (entity_id, relation, entity_type, tenant, subject_type, subject_relation, subject_id);
CREATE INDEX relationships_by_subject ON relationships USING btree (subject_id, subject_type, tenant, subject_relation, entity_type, relation, entity_id) WHERE (subject_id IS NOT NULL);

create table removed_tenants (
  number bigint not null,
  writers_below xid8,
  remover uuid,
  seen_at timestamp with time zone,
  constraint removed_tenants_pkey PRIMARY KEY (number)
);

create table schemas (
  tenant bigint not null,
  version text collate "C" not null,
  text text collate "C" not null,
  created_at timestamp with time zone not null default now(),
  constraint schemas_pkey PRIMARY KEY (tenant, version)
);

create table tenants (
  number bigint not null generated always as identity,
  id text collate "C" not null,
  name text collate "C" not null,
  created_at timestamp with time zone not null default now(),
  head_version text collate "C",
  created_xid xid8 not null default pg_current_xact_id(),
  constraint tenants_pkey PRIMARY KEY (number),
  constraint tenants_id_key UNIQUE (id)
);

create table timelines (
  system_identifier text collate "C" not null,
  timeline integer not null,
  first_xid xid8 not null,
  constraint timelines_pkey PRIMARY KEY (system_identifier, timeline)
);

CREATE OR REPLACE FUNCTION allows_data(tenant_id text, entity_types text[], relations text[], subject_types text[], subject_relations text[], attribute_entity_types text[], attribute_names text[])
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
begin
  if may_derive() then
    perform refuse_derived(tenant_id, array(
      select tuple_label(entity_type, relation, subject_type, subject_relation)
      from unnest(entity_types, relations, subject_types, subject_relations)
        as tuples (entity_type, relation, subject_type, subject_relation)
      union
      select entity_type || '$' || name
      from unnest(attribute_entity_types, attribute_names) as attributes (entity_type, name)
    ));
  end if;
  return true;
end
$function$;
-- execute: owner

CREATE OR REPLACE FUNCTION allows_operations(tenant_id text, operations jsonb)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
declare
  columns jsonb;
  labels text[] := '{}';
begin
  if not may_derive() then
    return true;
  end if;
  for columns in
    select lists.columns
    from jsonb_array_elements(operations) as steps (step)
    cross join lateral (
      values (steps.step -> 'create_tuples'), (steps.step -> 'delete_tuples')
    ) as lists (columns)
    where lists.columns is not null
  loop
    labels := labels || array(
      select distinct tuple_label(entity_type, relation, subject_type, subject_relation)
      from unnest(
        text_array(columns -> 0), text_array(columns -> 2), text_array(columns -> 3),
        text_array(columns -> 5)
      ) as tuples (entity_type, relation, subject_type, subject_relation)
    );
  end loop;
  for columns in
    select lists.columns
    from jsonb_array_elements(operations) as steps (step)
    cross join lateral (
      values (steps.step -> 'set_attributes'), (steps.step -> 'delete_attributes')
    ) as lists (columns)
    where lists.columns is not null
  loop
    labels := labels || array(
      select distinct entity_type || '$' || name
      from unnest(text_array(columns -> 0), text_array(columns -> 2)) as attributes (entity_type, name)
    );
  end loop;
  perform refuse_derived(tenant_id, labels);
  return true;
end
$function$;
-- execute: owner

CREATE OR REPLACE FUNCTION attribute_digest(entity_type text, entity_id text, attribute text, value_type text, value jsonb)
 RETURNS bigint
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  select ('x' || left(md5(concat_ws(
    E'\x1f', entity_type, entity_id, attribute, value_type, value::text
  )), 16))::bit(64)::bigint
$function$;
-- execute: owner

CREATE OR REPLACE FUNCTION attribute_stripe(entity_id text, attribute text)
 RETURNS integer
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  select 1 + (hashtextextended(entity_id || '$' || attribute, 0) & 63)::integer
$function$;
-- execute: owner

CREATE OR REPLACE FUNCTION change_data(tenant_id text, pinned_version text, expected_head text, seen pg_snapshot, seen_timeline integer, seen_change xid8, seen_before xid8, seen_last text, change jsonb)
 RETURNS TABLE(outcome text, head text, missing integer[], present integer[], is_changed boolean, is_future boolean, is_lost boolean, is_expired boolean, is_before_tenant boolean, is_partial boolean, snapshot pg_snapshot, xid xid8, timeline integer)
 LANGUAGE plpgsql
AS $function$
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
$function$;
-- execute: owner

CREATE OR REPLACE FUNCTION change_mark(ordinal integer, written_by xid, at timestamp with time zone)
 RETURNS text
 LANGUAGE sql
 STABLE PARALLEL SAFE
AS $function$
  select ordinal || '/' || written_by || '/' || (extract(epoch from at) * 1000000)::bigint
$function$;
-- execute: owner

CREATE OR REPLACE FUNCTION create_tuples(tenant_number bigint, first_ordinal integer, entity_types text[], entity_ids text[], relations text[], subject_types text[], subject_ids text[], subject_relations text[])
 RETURNS integer
 LANGUAGE plpgsql
AS $function$
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
    insert into public.relationships (
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
    insert into public.changes (
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
      insert into public.relationships (
        tenant, entity_type, entity_id, relation, subject_type, subject_id, subject_relation,
        created_xid
      )
      select tenant_number, entity_type, entity_id, relation, subject_type, subject_id,
        subject_relation, pg_current_xact_id()
      from public.listed_tuples(
        entity_types, entity_ids, relations, subject_types, subject_ids, subject_relations
      )
      order by entity_id collate "C", relation collate "C", entity_type collate "C",
        subject_type collate "C", subject_relation collate "C", subject_id collate "C";
      insert into public.changes (
        tenant, xid, ordinal, operation, entity_type, entity_id, relation, subject_type, subject_id,
        subject_relation
      )
      select tenant_number, pg_current_xact_id(), first_ordinal - 1 + position, 'create',
        entity_type, entity_id, relation, subject_type, subject_id, subject_relation
      from public.listed_tuples(
        entity_types, entity_ids, relations, subject_types, subject_ids, subject_relations
      );
      next_ordinal := first_ordinal + cardinality(entity_types);
    exception when unique_violation then
      null;
    end;
  end if;

  if next_ordinal is null then
    with created as (
      insert into public.relationships (
        tenant, entity_type, entity_id, relation, subject_type, subject_id, subject_relation,
        created_xid
      )
      select tenant_number, entity_type, entity_id, relation, subject_type, subject_id,
        subject_relation, pg_current_xact_id()
      from public.listed_tuples(
        entity_types, entity_ids, relations, subject_types, subject_ids, subject_relations
      )
      order by entity_id collate "C", relation collate "C", entity_type collate "C",
        subject_type collate "C", subject_relation collate "C", subject_id collate "C"
      on conflict do nothing
      returning entity_type, entity_id, relation, subject_type, subject_id, subject_relation,
        created_xid
    )
    insert into public.changes (
      tenant, xid, ordinal, operation, entity_type, entity_id, relation, subject_type, subject_id,
      subject_relation
    )
    select tenant_number, created_xid, first_ordinal - 1 + row_number() over (), 'create',
      entity_type, entity_id, relation, subject_type, subject_id, subject_relation
    from created;
    get diagnostics logged = row_count;
    next_ordinal := first_ordinal + logged;
  end if;

  if public.is_overtaken() then
    perform public.refuse_later_deletes(tenant_number, first_ordinal);
  end if;
  return next_ordinal;
end
$function$;
-- execute: owner

CREATE OR REPLACE FUNCTION current_timeline()
 RETURNS integer
 LANGUAGE sql
 PARALLEL SAFE
AS $function$
  select case
    when pg_is_in_recovery() then public.standby_timeline()
    else ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::integer
  end
$function$;
-- execute: owner

CREATE OR REPLACE FUNCTION database_life()
 RETURNS text
 LANGUAGE sql
 PARALLEL SAFE
AS $function$
  select concat_ws(
    ' ',
    pg_relation_filepath('installation'),
    current_timeline(),
    -- The counters of a writer begin anew when it recovers from a crash of one of its processes.
    case
      when not pg_is_in_recovery() then
        concat_ws(' ', pg_postmaster_start_time(), pg_stat_get_bgwriter_stat_reset_time())
    end
  )
$function$;
-- execute: owner

CREATE OR REPLACE FUNCTION delete_attributes(tenant_number bigint, first_ordinal integer, wanted_entity_type text, wanted_entity_ids text[], wanted_names text[])
 RETURNS integer
 LANGUAGE plpgsql
 SET plan_cache_mode TO 'force_custom_plan'
 SET enable_seqscan TO 'off'
AS $function$
#variable_conflict use_column
declare
  logged integer;
  seen pg_snapshot;
  next_ordinal integer := first_ordinal;
  kept constant text[] := public.kept_attributes(tenant_number, wanted_entity_type, wanted_names);
begin
  if cardinality(wanted_entity_ids) = 0 then
    perform set_config('enable_seqscan', 'on', true);
  end if;
  loop
    seen := pg_current_snapshot();
    with deleted as (
      delete from public.attributes
      where tenant = tenant_number
        and (wanted_entity_type = '' or entity_type = wanted_entity_type)
        and (cardinality(wanted_entity_ids) = 0 or entity_id = any(wanted_entity_ids))
        and (cardinality(wanted_names) = 0 or attribute = any(wanted_names))
        and (cardinality(kept) = 0 or entity_type || '$' || attribute <> all(kept))
      returning entity_type, entity_id, attribute, value_type, value, created_xid
    )
    insert into public.changes (
      tenant, xid, ordinal, operation, entity_type, entity_id, attribute, value_type, value,
      created_xid, bytes
    )
    select tenant_number, pg_current_xact_id(), next_ordinal - 1 + row_number() over (), 'delete',
      entity_type, entity_id, attribute, value_type, value, created_xid,
      public.logged_bytes(entity_id, value)
    from deleted;
    get diagnostics logged = row_count;
    if logged > 0 and public.is_overtaken() then
      perform public.refuse_later_creates(tenant_number, next_ordinal);
    end if;
    next_ordinal := next_ordinal + logged;
    exit when public.is_same_state(seen) or not public.is_changed_since(tenant_number, seen);
    exit when not exists (
      select from public.attributes as stored
      where tenant = tenant_number
        and (wanted_entity_type = '' or entity_type = wanted_entity_type)
        and (cardinality(wanted_entity_ids) = 0 or entity_id = any(wanted_entity_ids))
        and (cardinality(wanted_names) = 0 or attribute = any(wanted_names))
        and (cardinality(kept) = 0 or entity_type || '$' || attribute <> all(kept))
        and public.is_replaced_attribute(stored, seen)
    );
  end loop;
  return next_ordinal;
end
$function$;
-- execute: owner

CREATE OR REPLACE FUNCTION delete_data(tenant_id text, with_tuples boolean, tuple_entity_type text, tuple_entity_ids text[], tuple_relation text, tuple_subject_type text, tuple_subject_ids text[], tuple_subject_relation text, with_attributes boolean, attribute_entity_type text, attribute_entity_ids text[], attribute_names text[])
 RETURNS TABLE(outcome text, snapshot pg_snapshot, xid xid8, timeline integer)
 LANGUAGE plpgsql
AS $function$
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
$function$;
-- execute: owner

CREATE OR REPLACE FUNCTION delete_listed_attributes(tenant_number bigint, first_ordinal integer, entity_types text[], entity_ids text[], names text[])
 RETURNS integer
 LANGUAGE plpgsql
AS $function$
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
      delete from public.attributes as stored
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
    insert into public.changes (
      tenant, xid, ordinal, operation, entity_type, entity_id, attribute, value_type, value,
      created_xid, bytes
    )
    select tenant_number, pg_current_xact_id(), next_ordinal - 1 + row_number() over (), 'delete',
      entity_type, entity_id, attribute, value_type, value, created_xid,
      public.logged_bytes(entity_id, value)
    from deleted;
    get diagnostics logged = row_count;
    if logged > 0 and public.is_overtaken() then
      perform public.refuse_later_creates(tenant_number, next_ordinal);
    end if;
    next_ordinal := next_ordinal + logged;
    exit when public.is_same_state(seen) or not public.is_changed_since(tenant_number, seen);
    exit when not exists (
      select
      from unnest(entity_types, entity_ids, names) as wanted (entity_type, entity_id, attribute)
      join public.attributes as stored
        on stored.entity_id = wanted.entity_id
        and stored.attribute = wanted.attribute
        and stored.entity_type = wanted.entity_type
        and stored.tenant = tenant_number
      where public.is_replaced_attribute(stored, seen)
    );
  end loop;
  return next_ordinal;
end
$function$;
-- execute: owner

CREATE OR REPLACE FUNCTION delete_listed_tuples(tenant_number bigint, first_ordinal integer, entity_types text[], entity_ids text[], relations text[], subject_types text[], subject_ids text[], subject_relations text[])
 RETURNS integer
 LANGUAGE plpgsql
AS $function$
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
      delete from public.relationships
      where entity_id = entity_ids[1]
        and relation = relations[1]
        and entity_type = entity_types[1]
        and tenant = tenant_number
        and subject_type = subject_types[1]
        and subject_relation = subject_relations[1]
        and subject_id = subject_ids[1]
      returning created_xid into former_xid;
      if found then
        insert into public.changes (
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
        delete from public.relationships as stored
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
      insert into public.changes (
        tenant, xid, ordinal, operation, entity_type, entity_id, relation, subject_type,
        subject_id, subject_relation, created_xid
      )
      select tenant_number, pg_current_xact_id(), next_ordinal - 1 + row_number() over (),
        'delete', entity_type, entity_id, relation, subject_type, subject_id, subject_relation,
        created_xid
      from deleted;
    end if;
    get diagnostics logged = row_count;
    if logged > 0 and public.is_overtaken() then
      perform public.refuse_later_creates(tenant_number, next_ordinal);
    end if;
    next_ordinal := next_ordinal + logged;
    exit when public.is_same_state(seen) or not public.is_changed_since(tenant_number, seen);
    exit when not exists (
      select
      from unnest(
        entity_types, entity_ids, relations, subject_types, subject_ids, subject_relations
      ) as wanted (entity_type, entity_id, relation, subject_type, subject_id, subject_relation)
      join public.relationships as stored
        on stored.entity_id = wanted.entity_id
        and stored.relation = wanted.relation
        and stored.entity_type = wanted.entity_type
        and stored.tenant = tenant_number
        and stored.subject_type = wanted.subject_type
        and stored.subject_relation = wanted.subject_relation
        and stored.subject_id = wanted.subject_id
      where public.is_replaced_tuple(stored, seen)
    );
  end loop;
  return next_ordinal;
end
$function$;
-- execute: owner

CREATE OR REPLACE FUNCTION delete_matching_tuples(tenant_number bigint, first_ordinal integer, wanted_entity_type text, wanted_entity_ids text[], wanted_relation text, wanted_subject_type text, wanted_subject_ids text[], wanted_subject_relation text, kept text[])
 RETURNS integer
 LANGUAGE plpgsql
 SET plan_cache_mode TO 'force_custom_plan'
 SET enable_seqscan TO 'off'
AS $function$
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
      delete from public.relationships
      where tenant = tenant_number
        and (wanted_entity_type = '' or entity_type = wanted_entity_type)
        and (cardinality(wanted_entity_ids) = 0 or entity_id = any(wanted_entity_ids))
        and (wanted_relation = '' or relation = wanted_relation)
        and (wanted_subject_type = '' or subject_type = wanted_subject_type)
        and (cardinality(wanted_subject_ids) = 0 or subject_id = any(wanted_subject_ids))
        and (wanted_subject_relation = '' or subject_relation = wanted_subject_relation)
        and (
          cardinality(kept) = 0
          or public.tuple_label(entity_type, relation, subject_type, subject_relation) <> all(kept)
        )
      returning entity_type, entity_id, relation, subject_type, subject_id, subject_relation,
        created_xid
    )
    insert into public.changes (
      tenant, xid, ordinal, operation, entity_type, entity_id, relation, subject_type, subject_id,
      subject_relation, created_xid
    )
    select tenant_number, pg_current_xact_id(), next_ordinal - 1 + row_number() over (), 'delete',
      entity_type, entity_id, relation, subject_type, subject_id, subject_relation, created_xid
    from deleted;
    get diagnostics logged = row_count;
    if logged > 0 and public.is_overtaken() then
      perform public.refuse_later_creates(tenant_number, next_ordinal);
    end if;
    next_ordinal := next_ordinal + logged;
    exit when public.is_same_state(seen) or not public.is_changed_since(tenant_number, seen);
    exit when not exists (
      select from public.relationships as stored
      where tenant = tenant_number
        and (wanted_entity_type = '' or entity_type = wanted_entity_type)
        and (cardinality(wanted_entity_ids) = 0 or entity_id = any(wanted_entity_ids))
        and (wanted_relation = '' or relation = wanted_relation)
        and (wanted_subject_type = '' or subject_type = wanted_subject_type)
        and (cardinality(wanted_subject_ids) = 0 or subject_id = any(wanted_subject_ids))
        and (wanted_subject_relation = '' or subject_relation = wanted_subject_relation)
        and (
          cardinality(kept) = 0
          or public.tuple_label(entity_type, relation, subject_type, subject_relation) <> all(kept)
        )
        and public.is_replaced_tuple(stored, seen)
    );
  end loop;
  return next_ordinal;
end
$function$;
-- execute: owner

CREATE OR REPLACE FUNCTION delete_tenant(tenant_id text)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
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
$function$;
-- execute: owner

CREATE OR REPLACE FUNCTION delete_tuples(tenant_number bigint, first_ordinal integer, wanted_entity_type text, wanted_entity_ids text[], wanted_relation text, wanted_subject_type text, wanted_subject_ids text[], wanted_subject_relation text)
 RETURNS integer
 LANGUAGE plpgsql
AS $function$
declare
  kept constant text[] := public.kept_tuples(
    tenant_number, wanted_entity_type, wanted_relation, wanted_subject_type, wanted_subject_relation
  );
begin
  -- The filter names the relation, so `kept` is empty.
  if cardinality(wanted_entity_ids) = 1 and cardinality(wanted_subject_ids) = 1
    and wanted_entity_type <> '' and wanted_relation <> '' and wanted_subject_type <> ''
  then
    return public.delete_tuples_between(
      tenant_number, first_ordinal, wanted_entity_type, wanted_entity_ids[1], wanted_relation,
      wanted_subject_type, wanted_subject_ids[1], wanted_subject_relation
    );
  end if;
  return public.delete_matching_tuples(
    tenant_number, first_ordinal, wanted_entity_type, wanted_entity_ids, wanted_relation,
    wanted_subject_type, wanted_subject_ids, wanted_subject_relation, kept
  );
end
$function$;
-- execute: owner

CREATE OR REPLACE FUNCTION delete_tuples_between(tenant_number bigint, first_ordinal integer, wanted_entity_type text, wanted_entity_id text, wanted_relation text, wanted_subject_type text, wanted_subject_id text, wanted_subject_relation text)
 RETURNS integer
 LANGUAGE plpgsql
AS $function$
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
    delete from public.relationships
    where entity_id = wanted_entity_id
      and relation = wanted_relation
      and entity_type = wanted_entity_type
      and tenant = tenant_number
      and subject_type = wanted_subject_type
      and subject_relation = wanted_subject_relation
      and subject_id = wanted_subject_id
    returning created_xid into former_xid;
    if found then
      insert into public.changes (
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
        delete from public.relationships
        where entity_id = wanted_entity_id
          and relation = wanted_relation
          and entity_type = wanted_entity_type
          and tenant = tenant_number
          and subject_type = wanted_subject_type
          and subject_relation > ''
          and subject_id = wanted_subject_id
        returning subject_relation, created_xid
      )
      insert into public.changes (
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
    if next_ordinal > begin_ordinal and public.is_overtaken() then
      perform public.refuse_later_creates(tenant_number, begin_ordinal);
    end if;
    exit when public.is_same_state(seen) or not public.is_changed_since(tenant_number, seen);
    exit when not exists (
      select from public.relationships as stored
      where entity_id = wanted_entity_id
        and relation = wanted_relation
        and entity_type = wanted_entity_type
        and tenant = tenant_number
        and subject_type = wanted_subject_type
        and subject_relation = wanted_subject_relation
        and subject_id = wanted_subject_id
        and public.is_replaced_tuple(stored, seen)
    )
    and not exists (
      select from public.relationships as stored
      where wanted_subject_relation = ''
        and entity_id = wanted_entity_id
        and relation = wanted_relation
        and entity_type = wanted_entity_type
        and tenant = tenant_number
        and subject_type = wanted_subject_type
        and subject_relation > ''
        and subject_id = wanted_subject_id
        and public.is_replaced_tuple(stored, seen)
    );
  end loop;
  return next_ordinal;
end
$function$;
-- execute: owner

CREATE OR REPLACE FUNCTION durable_unless_logged(tenant_id text)
 RETURNS xid8
 LANGUAGE plpgsql
AS $function$
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
$function$;
-- execute: owner

CREATE OR REPLACE FUNCTION expect_tenant(tenant_id text, by_mover uuid)
 RETURNS bigint
 LANGUAGE plpgsql
AS $function$
declare
  number_here bigint;
begin
  update arrivals set mover = by_mover where arrivals.id = tenant_id
    returning arrivals.number into number_here;
  if found then
    return number_here;
  end if;
  insert into tenants (id, name) values (gen_random_uuid()::text, '')
    returning tenants.number into number_here;
  delete from tenants where tenants.number = number_here;
  insert into arrivals (number, id, mover) values (number_here, tenant_id, by_mover);
  return number_here;
end
$function$;
-- execute: owner

CREATE OR REPLACE FUNCTION filter_stripes(tuple_filters jsonb, attribute_filters jsonb)
 RETURNS integer[]
 LANGUAGE plpgsql
 IMMUTABLE
AS $function$
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
$function$;
-- execute: owner

CREATE OR REPLACE FUNCTION hide_tenant(tenant_number bigint, by_mover uuid)
 RETURNS text
 LANGUAGE plpgsql
AS $function$
declare
  known jsonb;
begin
  begin
    perform pg_advisory_xact_lock(lock_key(tenant_number, 0));
    select departures.hidden into known
      from departures
      where departures.number = tenant_number and departures.mover = by_mover
      for update;
    if not found then
      return 'gone';
    end if;
    if known is not null then
      return 'hidden';
    end if;
    delete from tenants where tenants.number = tenant_number
      returning jsonb_build_object(
        'name', name, 'created_at', created_at, 'head_version', head_version,
        'created_xid', created_xid::text
      ) into known;
    if not found then
      return 'gone';
    end if;
    update departures set hidden = known where departures.number = tenant_number;
    return 'hidden';
  exception when lock_not_available then
    return 'busy';
  end;
end
$function$;
-- execute: owner

CREATE OR REPLACE FUNCTION horizon_before(cutoff timestamp with time zone, by_log boolean)
 RETURNS xid8
 LANGUAGE sql
 SET enable_seqscan TO 'on'
AS $function$
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
$function$;
-- execute: owner

CREATE OR REPLACE FUNCTION is_changed_since(tenant_number bigint, seen pg_snapshot)
 RETURNS boolean
 LANGUAGE plpgsql
 SET plan_cache_mode TO 'force_generic_plan'
AS $function$
declare
  -- A delete that finds nothing takes no id.
  mine constant xid8 := pg_current_xact_id_if_assigned();
begin
  return exists (
    select from public.changes
    where changes.tenant = tenant_number
      and changes.xid >= pg_snapshot_xmax(seen)
      and (mine is null or changes.xid < mine)
  )
  or exists (
    select from public.changes
    where changes.tenant = tenant_number
      and changes.xid >= pg_snapshot_xmax(seen)
      and changes.xid > mine
  )
  or exists (
    select
    from pg_snapshot_xip(seen) as running (xid)
    cross join lateral (
      select from public.changes
      where changes.tenant = tenant_number and changes.xid = running.xid
      limit 1
    ) as ended
    where running.xid is distinct from mine
  );
end
$function$;
-- execute: owner

CREATE OR REPLACE FUNCTION is_logged_otherwise(tenant_number bigint, change_xid xid8, last text)
 RETURNS boolean
 LANGUAGE plpgsql
 STABLE PARALLEL SAFE
AS $function$
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
$function$;
-- execute: owner

CREATE OR REPLACE FUNCTION is_lost(tenant_number bigint, seen_timeline integer, change_xid xid8, taken_before xid8)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
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
$function$;
-- execute: owner

CREATE OR REPLACE FUNCTION is_overtaken()
 RETURNS boolean
 LANGUAGE sql
AS $function$
  select pg_snapshot_xmax(pg_current_snapshot()) > pg_current_xact_id()
$function$;
-- execute: owner

CREATE OR REPLACE FUNCTION is_replaced_attribute(stored attributes, seen pg_snapshot)
 RETURNS boolean
 LANGUAGE sql
 STABLE
AS $function$
  select not pg_visible_in_snapshot(stored.created_xid, seen)
    and exists (
      select
      from public.changes as gone
      where gone.entity_id = stored.entity_id
        and gone.attribute = stored.attribute
        and gone.entity_type = stored.entity_type
        and gone.tenant + 0 = stored.tenant
        and gone.operation = 'delete'
        and gone.attribute is not null
        and not pg_visible_in_snapshot(gone.xid, seen)
    )
$function$;
-- execute: owner

CREATE OR REPLACE FUNCTION is_replaced_tuple(stored relationships, seen pg_snapshot)
 RETURNS boolean
 LANGUAGE sql
 STABLE
AS $function$
  select not pg_visible_in_snapshot(stored.created_xid, seen)
    and exists (
      select
      from public.changes as gone
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
$function$;
-- execute: owner

CREATE OR REPLACE FUNCTION is_same_state(seen pg_snapshot)
 RETURNS boolean
 LANGUAGE sql
 STABLE
AS $function$
  select pg_current_snapshot()::text = seen::text
$function$;
-- execute: owner

CREATE OR REPLACE FUNCTION kept_attributes(tenant_number bigint, wanted_entity_type text, wanted_names text[])
 RETURNS text[]
 LANGUAGE plpgsql
 STABLE
 SET plan_cache_mode TO 'force_generic_plan'
AS $function$
declare
  tenant_id text;
  labels text[];
begin
  if not public.may_derive() then
    return '{}';
  end if;
  tenant_id := (select tenants.id from public.tenants where tenants.number = tenant_number);
  labels := array(
    select derived.label
    from public.derived
    where derived.attribute <> ''
      and derived.tenant in ('', tenant_id)
      and wanted_entity_type in ('', derived.entity_type)
      and (cardinality(wanted_names) = 0 or derived.attribute = any(wanted_names))
  );
  if cardinality(wanted_names) > 0 and cardinality(labels) > 0 then
    perform public.refuse_derived(tenant_id, labels);
  end if;
  return labels;
end
$function$;
-- execute: owner

CREATE OR REPLACE FUNCTION kept_tuples(tenant_number bigint, wanted_entity_type text, wanted_relation text, wanted_subject_type text, wanted_subject_relation text)
 RETURNS text[]
 LANGUAGE plpgsql
 STABLE
 SET plan_cache_mode TO 'force_generic_plan'
AS $function$
declare
  tenant_id text;
  labels text[];
begin
  if not public.may_derive() then
    return '{}';
  end if;
  tenant_id := (select tenants.id from public.tenants where tenants.number = tenant_number);
  labels := array(
    select derived.label
    from public.derived
    where derived.attribute = ''
      and derived.tenant in ('', tenant_id)
      and wanted_entity_type in ('', derived.entity_type)
      and wanted_relation in ('', derived.relation)
      and wanted_subject_type in ('', derived.subject_type)
      and wanted_subject_relation in ('', derived.subject_relation)
  );
  if wanted_relation <> '' and cardinality(labels) > 0 then
    perform public.refuse_derived(tenant_id, labels);
  end if;
  return labels;
end
$function$;
-- execute: owner

CREATE OR REPLACE FUNCTION listed_attribute_stripes(attributes jsonb)
 RETURNS SETOF integer
 LANGUAGE sql
 IMMUTABLE
AS $function$
  select attribute_stripe(entity_id, attribute)
  from unnest(text_array(attributes -> 1), text_array(attributes -> 2))
    as keys (entity_id, attribute)
$function$;
-- execute: owner

CREATE OR REPLACE FUNCTION listed_tuple_stripes(tuples jsonb)
 RETURNS SETOF integer
 LANGUAGE sql
 IMMUTABLE
AS $function$
  select tuple_stripe(entity_id, relation, subject_id)
  from unnest(text_array(tuples -> 1), text_array(tuples -> 2), text_array(tuples -> 4))
    as keys (entity_id, relation, subject_id)
$function$;
-- execute: owner

CREATE OR REPLACE FUNCTION listed_tuples(entity_types text[], entity_ids text[], relations text[], subject_types text[], subject_ids text[], subject_relations text[])
 RETURNS TABLE(entity_type text, entity_id text, relation text, subject_type text, subject_id text, subject_relation text, "position" integer)
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  select unnest(lists.entity_types), unnest(lists.entity_ids), unnest(lists.relations),
    unnest(lists.subject_types), unnest(lists.subject_ids), unnest(lists.subject_relations),
    generate_series(1, cardinality(lists.entity_types))
  from (
    select entity_types, entity_ids, relations, subject_types, subject_ids, subject_relations
    offset 0
  ) as lists
$function$;
-- execute: owner

CREATE OR REPLACE FUNCTION lock_key(tenant bigint, slot integer)
 RETURNS bigint
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  select 5793156763356233728 + tenant * 128 + slot
$function$;
-- execute: owner

CREATE OR REPLACE FUNCTION lock_maps()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
  execute format('lock table %I.maps in share row exclusive mode', tg_table_schema);
  return null;
end
$function$;
-- execute: owner

CREATE OR REPLACE FUNCTION lock_stripes(tenant_number bigint, shared integer[], exclusive integer[])
 RETURNS void
 LANGUAGE plpgsql
AS $function$
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
$function$;
-- execute: owner

CREATE OR REPLACE FUNCTION lock_tenant(tenant_id text, is_exclusive boolean)
 RETURNS bigint
 LANGUAGE plpgsql
AS $function$
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
$function$;
-- execute: owner

CREATE OR REPLACE FUNCTION logged_bytes(entity_id text, value jsonb)
 RETURNS integer
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  select octet_length(entity_id) + octet_length(value::text)
$function$;
-- execute: owner

CREATE OR REPLACE FUNCTION may_derive()
 RETURNS boolean
 LANGUAGE sql
 IMMUTABLE
AS $function$ select false $function$;
-- execute: owner

CREATE OR REPLACE FUNCTION missing_tuples(tenant_number bigint, tuples jsonb)
 RETURNS integer[]
 LANGUAGE sql
 STABLE
AS $function$
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
$function$;
-- execute: owner

CREATE OR REPLACE FUNCTION note_derived()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
  has_rows boolean;
  noted boolean;
begin
  execute format('select exists (select from %1$I.derived), %1$I.may_derive()', tg_table_schema)
    into has_rows, noted;
  if has_rows <> noted then
    execute format(
      'create or replace function %I.may_derive() returns boolean language sql immutable as %L',
      tg_table_schema, format(' select %s ', has_rows::text)
    );
  end if;
  return null;
end
$function$;
-- execute: owner

CREATE OR REPLACE FUNCTION note_timeline()
 RETURNS integer
 LANGUAGE plpgsql
AS $function$
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
$function$;
-- execute: owner

CREATE OR REPLACE FUNCTION open_installation()
 RETURNS TABLE(identity text, timeline integer, first_xid xid8)
 LANGUAGE plpgsql
AS $function$
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
$function$;
-- execute: owner

CREATE OR REPLACE FUNCTION present_tuples(tenant_number bigint, tuples jsonb)
 RETURNS integer[]
 LANGUAGE sql
 STABLE
AS $function$
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
$function$;
-- execute: owner

CREATE OR REPLACE FUNCTION receive_tenant(tenant_id text, by_mover uuid, made jsonb)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
declare
  number_here bigint;
begin
  delete from arrivals where arrivals.id = tenant_id and arrivals.mover = by_mover
    returning arrivals.number into number_here;
  if found then
    insert into tenants (number, id, name, created_at, head_version)
      overriding system value
      values (
        number_here, tenant_id, made ->> 'name', (made ->> 'created_at')::timestamptz,
        made ->> 'head_version'
      );
  end if;
  return exists (select from tenants where tenants.id = tenant_id);
end
$function$;
-- execute: owner

CREATE OR REPLACE FUNCTION record_timeline(here_system text, here_timeline integer)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
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
$function$;
-- execute: owner

CREATE OR REPLACE FUNCTION refuse_derived(tenant_id text, labels text[])
 RETURNS void
 LANGUAGE plpgsql
AS $function$
declare
  refused jsonb;
begin
  select jsonb_agg(jsonb_build_object('label', derived.label, 'source', maps.source))
    into refused
  from public.derived
  join public.maps on maps.name = derived.map
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
$function$;
-- execute: owner

CREATE OR REPLACE FUNCTION refuse_inversion()
 RETURNS void
 LANGUAGE plpgsql
AS $function$
begin
  raise exception using
    errcode = 'serialization_failure',
    message = 'a transaction that got its id later has changed the same tuple or attribute before',
    hint = 'run the transaction again';
end
$function$;
-- execute: owner

CREATE OR REPLACE FUNCTION refuse_later_creates(tenant_number bigint, first_ordinal integer)
 RETURNS void
 LANGUAGE plpgsql
 SET plan_cache_mode TO 'force_generic_plan'
AS $function$
begin
  if exists (
    select
    from public.changes
    where changes.tenant = tenant_number
      and changes.xid = pg_current_xact_id()
      and changes.ordinal >= first_ordinal
      and changes.operation = 'delete'
      and changes.created_xid > changes.xid
  ) then
    perform public.refuse_inversion();
  end if;
end
$function$;
-- execute: owner

CREATE OR REPLACE FUNCTION refuse_later_deletes(tenant_number bigint, first_ordinal integer)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
#variable_conflict use_column
begin
  if not exists (
    select from public.changes
    where changes.tenant = tenant_number and changes.xid > pg_current_xact_id()
  ) then
    return;
  end if;
  if exists (
    select
    from public.changes as made
    where made.tenant = tenant_number
      and made.xid = pg_current_xact_id()
      and made.ordinal >= first_ordinal
      and made.operation = 'create'
      and (
        exists (
          select
          from public.changes as later
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
          from public.changes as later
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
    perform public.refuse_inversion();
  end if;
end
$function$;
-- execute: owner

CREATE OR REPLACE FUNCTION run_bundle(tenant_id text, bundle_tenant bigint, expected_head text, operations jsonb)
 RETURNS TABLE(outcome text, head text, snapshot pg_snapshot, xid xid8, timeline integer)
 LANGUAGE plpgsql
AS $function$
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
$function$;
-- execute: owner

CREATE OR REPLACE FUNCTION set_attributes(tenant_number bigint, first_ordinal integer, entity_types text[], entity_ids text[], names text[], value_types text[], new_values text[])
 RETURNS integer
 LANGUAGE plpgsql
AS $function$
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
      join public.attributes as stored
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
      update public.attributes as stored
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
    insert into public.changes (
      tenant, xid, ordinal, operation, entity_type, entity_id, attribute, value_type, value,
      created_xid, bytes
    )
    select tenant_number, created_xid, position, 'delete', entity_type, entity_id, attribute,
      former_value_type, former_value, former_created_xid,
      public.logged_bytes(entity_id, former_value)
    from numbered
    union all
    select tenant_number, created_xid, position + 1, 'create', entity_type, entity_id, attribute,
      value_type, value, null, public.logged_bytes(entity_id, value)
    from numbered;
    get diagnostics logged = row_count;
    if logged > 0 and public.is_overtaken() then
      perform public.refuse_later_creates(tenant_number, next_ordinal);
    end if;
    next_ordinal := next_ordinal + logged;
    overwrites := logged / 2;

    with created as (
      insert into public.attributes (
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
    insert into public.changes (
      tenant, xid, ordinal, operation, entity_type, entity_id, attribute, value_type, value, bytes
    )
    select tenant_number, created_xid, next_ordinal - 1 + row_number() over (), 'create',
      entity_type, entity_id, attribute, value_type, value, public.logged_bytes(entity_id, value)
    from created;
    get diagnostics logged = row_count;
    next_ordinal := next_ordinal + logged;

    -- The others have the value already, or another transaction has just made them with its own.
    exit when overwrites + logged = cardinality(entity_types) or not exists (
      select
      from unnest(entity_types, entity_ids, names, value_types, new_values)
        as wanted (entity_type, entity_id, attribute, value_type, value)
      left join public.attributes as stored
        on stored.entity_id = wanted.entity_id
        and stored.attribute = wanted.attribute
        and stored.entity_type = wanted.entity_type
        and stored.tenant = tenant_number
      where (stored.value_type, stored.value)
        is distinct from (wanted.value_type, wanted.value::jsonb)
    );
  end loop;

  if public.is_overtaken() then
    perform public.refuse_later_deletes(tenant_number, first_ordinal);
  end if;
  return next_ordinal;
end
$function$;
-- execute: owner

CREATE OR REPLACE FUNCTION settled_state(tenant_number bigint, tenant_created_xid xid8)
 RETURNS text
 LANGUAGE sql
 STABLE PARALLEL SAFE
AS $function$
  select settled.xid || ':' || settled.xid || ':'
  from (select pg_snapshot_xmin(pg_current_snapshot()) as xid offset 0) as settled
  where tenant_created_xid < settled.xid
    and not exists (
      select from changes where changes.tenant = tenant_number and changes.xid >= settled.xid
    )
$function$;
-- execute: owner

CREATE OR REPLACE FUNCTION show_tenant(tenant_number bigint, by_mover uuid)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
declare
  here departures;
begin
  select * into here
    from departures
    where departures.number = tenant_number and departures.mover = by_mover
    for update;
  if not found then
    return false;
  end if;
  if here.hidden is not null then
    insert into tenants (number, id, name, created_at, head_version, created_xid)
      overriding system value
      values (
        here.number, here.id, here.hidden ->> 'name', (here.hidden ->> 'created_at')::timestamptz,
        here.hidden ->> 'head_version', (here.hidden ->> 'created_xid')::xid8
      );
    update departures set hidden = null where departures.number = tenant_number;
  end if;
  return exists (select from tenants where tenants.number = tenant_number);
end
$function$;
-- execute: owner

CREATE OR REPLACE FUNCTION standby_timeline()
 RETURNS integer
 LANGUAGE sql
 STABLE PARALLEL SAFE
AS $function$
  select max(timelines.timeline)
  from public.timelines
  join public.installation on installation.system_identifier = timelines.system_identifier
$function$;
-- execute: owner

CREATE OR REPLACE FUNCTION text_array(list jsonb)
 RETURNS text[]
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  select array(
    select value from jsonb_array_elements_text(list) with ordinality as items (value, position)
    order by position
  )
$function$;
-- execute: owner

CREATE OR REPLACE FUNCTION tuple_digest(entity_type text, entity_id text, relation text, subject_type text, subject_id text, subject_relation text)
 RETURNS bigint
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  select ('x' || left(md5(concat_ws(
    E'\x1f', entity_type, entity_id, relation, subject_type, subject_id, subject_relation
  )), 16))::bit(64)::bigint
$function$;
-- execute: owner

CREATE OR REPLACE FUNCTION tuple_label(entity_type text, relation text, subject_type text, subject_relation text)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE
AS $function$
  select entity_type || '#' || relation || '@' || subject_type
    || case subject_relation when '' then '' else '#' || subject_relation end
$function$;
-- execute: owner

CREATE OR REPLACE FUNCTION tuple_stripe(entity_id text, relation text, subject_id text)
 RETURNS integer
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  select 1 + (hashtextextended(entity_id || '#' || relation || '@' || subject_id, 0) & 63)::integer
$function$;
-- execute: owner

CREATE OR REPLACE FUNCTION write_batch(known_timeline integer, tenant_ids text[], known_numbers bigint[], expected_heads text[], entity_types text[], entity_ids text[], relations text[], subject_types text[], subject_ids text[], subject_relations text[], lock_wait text)
 RETURNS text
 LANGUAGE plpgsql
AS $function$
#variable_conflict use_column
declare
  requests constant integer := cardinality(entity_ids);
  is_free boolean[];
  created integer;
  tenant_here bigint;
  seen text;
  marks text;
  durable xid8;
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
  is_done := set_config('lock_timeout', lock_wait, true) is not null;
  is_free := array(
    select pg_try_advisory_xact_lock_shared(lock_key(number, 0))
      and pg_try_advisory_xact_lock_shared(
        lock_key(number, tuple_stripe(entity_id, relation, subject_id))
      )
    from unnest(known_numbers, entity_ids, relations, subject_ids) with ordinality
      as wanted (number, entity_id, relation, subject_id, position)
    order by position
  );
  if may_derive() then
    is_free := array(
      select wanted.is_free and not exists (
        select
        from derived
        where derived.tenant in ('', wanted.tenant_id)
          and derived.label = tuple_label(
            wanted.entity_type, wanted.relation, wanted.subject_type, wanted.subject_relation
          )
      )
      from unnest(is_free, tenant_ids, entity_types, relations, subject_types, subject_relations)
        with ordinality as wanted (
          is_free, tenant_id, entity_type, relation, subject_type, subject_relation, position
        )
      order by position
    );
  end if;

  -- A tenant may have been deleted before its lock was taken.
  with created as (
    insert into relationships (
      tenant, entity_type, entity_id, relation, subject_type, subject_id, subject_relation,
      created_xid
    )
    select wanted.number, wanted.entity_type, wanted.entity_id, wanted.relation,
      wanted.subject_type, wanted.subject_id, wanted.subject_relation, pg_current_xact_id()
    from unnest(
      is_free, tenant_ids, known_numbers, expected_heads, entity_types, entity_ids, relations,
      subject_types, subject_ids, subject_relations
    ) as wanted (
      is_free, tenant_id, number, head, entity_type, entity_id, relation, subject_type, subject_id,
      subject_relation
    )
    cross join lateral (
      select
      from tenants
      where tenants.id = wanted.tenant_id
        and tenants.number = wanted.number
        and tenants.head_version = wanted.head
      offset 0
    ) as known
    where wanted.is_free
    order by wanted.entity_id collate "C", wanted.relation collate "C",
      wanted.entity_type collate "C", wanted.number, wanted.subject_type collate "C",
      wanted.subject_relation collate "C", wanted.subject_id collate "C"
    on conflict do nothing
    returning tenant, entity_type, entity_id, relation, subject_type, subject_id,
      subject_relation, created_xid
  )
  insert into changes (
    tenant, xid, ordinal, operation, entity_type, entity_id, relation, subject_type, subject_id,
    subject_relation
  )
  select tenant, created_xid, row_number() over (partition by tenant) - 1, 'create', entity_type,
    entity_id, relation, subject_type, subject_id, subject_relation
  from created;
  get diagnostics created = row_count;
  if created > 0 and is_overtaken() then
    for tenant_here in select distinct number from unnest(known_numbers) as numbers (number) loop
      perform refuse_later_deletes(tenant_here, 0);
    end loop;
  end if;
  seen := pg_current_snapshot()::text;
  if created = requests then
    return repeat('+', requests) || ' ' || seen || ' ' || pg_current_xact_id()::text;
  end if;

  -- If a tuple is there that was not created above, nothing was left to do for its request. But that the
  -- tenant is as the request knows it must be so as well.
  select string_agg(
    case
      when stored.created_xid = pg_current_xact_id() then '+'
      when not wanted.is_free or stored.created_xid is null then '-'
      when exists (
        select from changes
        where changes.tenant = wanted.number
          and changes.xid = pg_current_xact_id()
          and changes.ordinal = 0
      ) then '+'
      else '='
    end,
    '' order by wanted.position
  )
  into marks
  from unnest(
    is_free, tenant_ids, known_numbers, expected_heads, entity_types, entity_ids, relations,
    subject_types, subject_ids, subject_relations
  ) with ordinality as wanted (
    is_free, tenant_id, number, head, entity_type, entity_id, relation, subject_type, subject_id,
    subject_relation, position
  )
  left join lateral (
    select relationships.created_xid
    from relationships
    where relationships.entity_id = wanted.entity_id
      and relationships.relation = wanted.relation
      and relationships.entity_type = wanted.entity_type
      and relationships.tenant = wanted.number
      and relationships.subject_type = wanted.subject_type
      and relationships.subject_relation = wanted.subject_relation
      and relationships.subject_id = wanted.subject_id
      and (
        relationships.created_xid = pg_current_xact_id()
        or exists (
          select from tenants
          where tenants.id = wanted.tenant_id
            and tenants.number = wanted.number
            and tenants.head_version = wanted.head
        )
      )
    offset 0
  ) as stored on true;
  if strpos(marks, '=') > 0 then
    -- After the snapshot, which so shows no change from this id on.
    select greatest(durable_xid.xid, made.xid)
    into durable
    from durable_xid
    left join lateral (
      select tenants.created_xid as xid
      from unnest(tenant_ids) as wanted (id)
      join tenants on tenants.id = wanted.id
      order by tenants.created_xid desc
      limit 1
    ) as made on true;
  end if;
  return concat_ws(
    ' ', marks, seen, case created when 0 then '0' else pg_current_xact_id()::text end, durable::text
  );
end
$function$;
-- execute: owner

CREATE OR REPLACE FUNCTION write_data(tenant_id text, known_number bigint, known_timeline integer, pinned_version text, expected_head text, tuple_entity_types text[], tuple_entity_ids text[], tuple_relations text[], tuple_subject_types text[], tuple_subject_ids text[], tuple_subject_relations text[], attribute_entity_types text[], attribute_entity_ids text[], attribute_names text[], attribute_value_types text[], attribute_values text[])
 RETURNS TABLE(outcome text, number bigint, head text, snapshot pg_snapshot, xid xid8, timeline integer)
 LANGUAGE plpgsql
AS $function$
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
$function$;
-- execute: owner

CREATE OR REPLACE FUNCTION write_schema(tenant_id text, new_version text, new_text text, base text)
 RETURNS TABLE(outcome text, head text)
 LANGUAGE plpgsql
AS $function$
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
$function$;
-- execute: owner

CREATE OR REPLACE FUNCTION write_tuple(tenant_id text, known_number bigint, known_timeline integer, expected_head text, entity_type text, entity_id text, relation text, subject_type text, subject_id text, subject_relation text, lock_wait text)
 RETURNS text
 LANGUAGE plpgsql
AS $function$
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
$function$;
-- execute: owner

-- relation durable_xid of the kind v
-- sequence pemba_migrations_id_seq: integer from 1 by 1
-- sequence tenants_number_seq: bigint from 1 by 1
