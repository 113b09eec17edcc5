-- Up Migration

create function text_array(list jsonb) returns text[]
language sql immutable parallel safe
as $$
  select array(
    select value from jsonb_array_elements_text(list) with ordinality as items (value, position)
    order by position
  )
$$;

-- Deletes those of the listed tuples that are there and logs them from `first_ordinal` on. Returns
-- the next free ordinal. The caller holds the exclusive locks of the keys.
create function delete_listed_tuples(
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
  with deleted as (
    delete from relationships as stored
    using unnest(
      entity_types, entity_ids, relations, subject_types, subject_ids, subject_relations
    ) as wanted (entity_type, entity_id, relation, subject_type, subject_id, subject_relation)
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
    tenant, xid, ordinal, operation, entity_type, entity_id, relation, subject_type, subject_id,
    subject_relation, created_xid
  )
  select tenant_number, pg_current_xact_id(), first_ordinal - 1 + row_number() over (), 'delete',
    entity_type, entity_id, relation, subject_type, subject_id, subject_relation, created_xid
  from deleted;
  get diagnostics logged = row_count;
  return first_ordinal + logged;
end
$$;

-- The same for attributes.
create function delete_listed_attributes(
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

-- The stripes of tuples and of attributes that stand in columns, as in an operation of `run_bundle`.
create function listed_tuple_stripes(tuples jsonb) returns setof integer
language sql immutable
as $$
  select tuple_stripe(entity_id, relation, subject_id)
  from unnest(text_array(tuples -> 1), text_array(tuples -> 2), text_array(tuples -> 4))
    as keys (entity_id, relation, subject_id)
$$;

create function listed_attribute_stripes(attributes jsonb) returns setof integer
language sql immutable
as $$
  select attribute_stripe(entity_id, attribute)
  from unnest(text_array(attributes -> 1), text_array(attributes -> 2))
    as keys (entity_id, attribute)
$$;

-- Applies the operations of a bundle to a tenant, in their order and in one transaction. Each has
-- `create_tuples` and `delete_tuples`: six lists of equal length with entity types, entity ids,
-- relations, subject types, subject ids and subject relations; `set_attributes`: five lists with
-- entity types, entity ids, names, value types and json values, one value for each key; and
-- `delete_attributes`: the first three of these. Writes go before deletes.
--
-- Outcomes: `written`; `no_tenant`; `other_head` when `expected_head` is given and not the head, or
-- when the tenant is another one than the number `bundle_tenant`, whose bundle it is. `head` is the
-- true head; the rest is what a snap token is made of. The order of the steps is that of
-- `write_data`: locks, changes, the snapshot.
create function run_bundle(
  tenant_id text,
  bundle_tenant bigint,
  expected_head text,
  operations jsonb
)
returns table (outcome text, head text, snapshot pg_snapshot, xid xid8, timeline integer)
language plpgsql volatile
as $$
#variable_conflict use_column
declare
  number_here constant bigint := lock_tenant(tenant_id, false);
  -- Keys of creates go in order within an operation. Who creates in several would wait in a circle
  -- with another who does so in another order, were they let in together.
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
$$;

-- Down Migration

drop function run_bundle(text, bigint, text, jsonb);
drop function listed_attribute_stripes(jsonb);
drop function listed_tuple_stripes(jsonb);
drop function delete_listed_attributes(bigint, integer, text[], text[], text[]);
drop function delete_listed_tuples(
  bigint, integer, text[], text[], text[], text[], text[], text[]
);
drop function text_array(jsonb);
