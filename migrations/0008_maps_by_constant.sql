-- Up Migration

-- While no map derives anything, a write does not read the table `derived`: a constant says so
-- (docs/decisions/0018-maps.md).

-- Returns false only if no map derives anything. `note_derived` replaces the constant. The planner puts it
-- into each statement that asks, so it costs nothing; a plan that is kept is made anew when it changes.
create function may_derive() returns boolean
language sql immutable
as $$ select false $$;

-- Locks the table `maps` before a change of `derived`, against all other writers, until the transaction
-- ends. So each change sees what those before it left.
create function lock_maps() returns trigger
language plpgsql volatile security definer
set search_path to pg_catalog, pg_temp
as $$
begin
  execute format('lock table %I.maps in share row exclusive mode', tg_table_schema);
  return null;
end
$$;

-- Makes `may_derive` say, after a change of `derived`, whether it has rows. Runs with the rights of the
-- role that made the tables, since maps may be made by another one.
create function note_derived() returns trigger
language plpgsql volatile security definer
set search_path to pg_catalog, pg_temp
as $$
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
$$;

create trigger lock_maps before insert or update or delete or truncate on derived
  for each statement execute function lock_maps();
create trigger note_derived after insert or update or delete or truncate on derived
  for each statement execute function note_derived();

-- The functions are those of 0006, which read the table each time. 0009 has `write_tuple`.
create or replace function allows_data(
  tenant_id text,
  entity_types text[],
  relations text[],
  subject_types text[],
  subject_relations text[],
  attribute_entity_types text[],
  attribute_names text[]
)
returns boolean
language plpgsql volatile
as $$
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
$$;

create or replace function allows_operations(tenant_id text, operations jsonb) returns boolean
language plpgsql volatile
as $$
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
$$;

create or replace function kept_tuples(
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
  if not may_derive() then
    return '{}';
  end if;
  tenant_id := (select tenants.id from tenants where tenants.number = tenant_number);
  labels := array(
    select derived.label
    from derived
    where derived.attribute = ''
      and derived.tenant in ('', tenant_id)
      and wanted_entity_type in ('', derived.entity_type)
      and wanted_relation in ('', derived.relation)
      and wanted_subject_type in ('', derived.subject_type)
      and wanted_subject_relation in ('', derived.subject_relation)
  );
  if wanted_relation <> '' and cardinality(labels) > 0 then
    perform refuse_derived(tenant_id, labels);
  end if;
  return labels;
end
$$;

create or replace function kept_attributes(
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
  if not may_derive() then
    return '{}';
  end if;
  tenant_id := (select tenants.id from tenants where tenants.number = tenant_number);
  labels := array(
    select derived.label
    from derived
    where derived.attribute <> ''
      and derived.tenant in ('', tenant_id)
      and wanted_entity_type in ('', derived.entity_type)
      and (cardinality(wanted_names) = 0 or derived.attribute = any(wanted_names))
  );
  if cardinality(wanted_names) > 0 and cardinality(labels) > 0 then
    perform refuse_derived(tenant_id, labels);
  end if;
  return labels;
end
$$;

revoke execute on function may_derive, lock_maps, note_derived from public;

-- Maps may be there already.
update derived set label = label where false;
