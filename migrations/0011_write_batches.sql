-- Up Migration

-- Writes of one tuple that wait at the same moment share a transaction (docs/decisions/0022-write-batches.md).

-- Creates tuples of several requests, as `write_tuple` creates one: element n of each list belongs to request
-- n. A request is left out if `write_tuple` would return null for it, or wait for an advisory lock.
--
-- Returns null and does nothing if the server writes another timeline. Otherwise a text with spaces between:
-- a mark for each request, the snapshot, the transaction id (0 if nothing was created), and the last durable id
-- if a mark says `=`. The marks are
--   `+`  the tuple is there, and the transaction has logged a change of its tenant: the token goes by the id;
--   `=`  the tuple was there, and the transaction has changed nothing of its tenant: the token goes by the
--        durable id;
--   `-`  left out.
-- Errors: raises an exception when the isolation level is not read committed. Fails with `lock_not_available`
-- if the row of another transaction is in the way for longer than `lock_wait`, and with
-- serialization_failure if a later transaction has deleted one of the tuples. Then nothing is done.
--
-- Locks and the order of the steps: as `write_data`. The advisory locks of several tenants are not waited for,
-- so they need no order. The rows are created in the order of their keys. That of the tenant does not matter,
-- since all other functions change rows of one tenant only.
create function write_batch(
  known_timeline integer,
  tenant_ids text[],
  known_numbers bigint[],
  expected_heads text[],
  entity_types text[],
  entity_ids text[],
  relations text[],
  subject_types text[],
  subject_ids text[],
  subject_relations text[],
  lock_wait text
)
returns text
language plpgsql volatile
as $$
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
$$;

revoke execute on function write_batch from public;
