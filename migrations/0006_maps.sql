-- Up Migration

-- Maps: what rows of an application's table say is kept as tuples and attributes, by triggers on the
-- table (docs/decisions/0018-maps.md). `source` is the name of the table, for messages; `definition` is
-- the map as its file has it.
create table maps (
  name text collate "C" primary key,
  source text not null,
  definition jsonb not null,
  made_at timestamptz not null default now()
);

-- What maps derive, which cannot be written otherwise: tuples of a relation of an entity type with such
-- subjects, or an attribute.
create table derived (
  -- `type#relation@type`, `type#relation@type#relation` or `type$attribute`.
  label text collate "C" not null,
  -- The id of the tenant; empty: of all tenants.
  tenant text collate "C" not null,
  map text collate "C" not null,
  entity_type text collate "C" not null,
  -- Empty of an attribute, as the name of an attribute is of a tuple.
  relation text collate "C" not null,
  subject_type text collate "C" not null,
  subject_relation text collate "C" not null,
  attribute text collate "C" not null,
  primary key (label, tenant)
);

-- Returns how `derived` names tuples of this kind.
create function tuple_label(
  entity_type text, relation text, subject_type text, subject_relation text
)
returns text
language sql immutable
as $$
  select entity_type || '#' || relation || '@' || subject_type
    || case subject_relation when '' then '' else '#' || subject_relation end
$$;

-- Fails with PB006 when something that these labels name is derived in the tenant. The detail is a list
-- of `label` and `source`, the table. Takes no lock: a write that began before a map was made may still
-- be done after it.
create function refuse_derived(tenant_id text, labels text[]) returns void
language plpgsql volatile
as $$
declare
  refused jsonb;
begin
  select jsonb_agg(jsonb_build_object('label', derived.label, 'source', maps.source))
    into refused
  from derived
  join maps on maps.name = derived.map
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
$$;

-- Returns true, or fails as `refuse_derived` for data in lists: columns of tuples, then of attributes.
create function allows_data(
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
  if exists (select from derived) then
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

-- The same for operations, a list as `run_bundle` takes it.
create function allows_operations(tenant_id text, operations jsonb) returns boolean
language plpgsql volatile
as $$
declare
  columns jsonb;
  labels text[] := '{}';
begin
  if not exists (select from derived) then
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

-- Returns the labels of the tuples that a filter leaves alone, since maps derive them. A filter that
-- names a relation means its tuples: if it can meet one that is derived, this fails with PB006.
create function kept_tuples(
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
  if not exists (select from derived) then
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

-- The same for attributes. A filter that names attributes means these.
create function kept_attributes(
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
  if not exists (select from derived) then
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

revoke execute on function
  tuple_label, refuse_derived, allows_data, allows_operations, kept_tuples, kept_attributes
from public;
