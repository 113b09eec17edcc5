-- Permission data of the table app.folders, by the map `folders`.
--
-- The triggers run once for each statement, in its transaction: permission data and rows are committed
-- together, or not at all. What the map derives cannot be written in another way.
--
-- - Run this as the owner of the table, with the rights of `pemba sql grant --for map`. Triggers read the
--   table with the rights of the role that runs it.
-- - Rows that are there already are taken by `pemba sql map FILE --load`, after this.
-- - A transaction that changes a mapped column needs the isolation level read committed, and is run again
--   on 40001 and 40P01.
-- - `truncate` is refused.
-- - `insert ... returning` under row security is judged before the triggers run: let the policy also allow
--   a row by its own columns, such as `owner_id = ...`.
-- - Rows that logical replication writes are not seen, also not if `enable always trigger` is said: it runs
--   no triggers of statements. Run `pemba sql reconcile --repair`.
-- - What happened while triggers were disabled is found and mended by `pemba sql reconcile --repair`.
--
-- Permission data of the table app.documents, by the map `documents`.
--
-- The triggers run once for each statement, in its transaction: permission data and rows are committed
-- together, or not at all. What the map derives cannot be written in another way.
--
-- - Run this as the owner of the table, with the rights of `pemba sql grant --for map`. Triggers read the
--   table with the rights of the role that runs it.
-- - Rows that are there already are taken by `pemba sql map FILE --load`, after this.
-- - A transaction that changes a mapped column needs the isolation level read committed, and is run again
--   on 40001 and 40P01.
-- - `truncate` is refused.
-- - `insert ... returning` under row security is judged before the triggers run: let the policy also allow
--   a row by its own columns, such as `owner_id = ...`.
-- - Rows that logical replication writes are not seen, also not if `enable always trigger` is said: it runs
--   no triggers of statements. Run `pemba sql reconcile --repair`.
-- - What happened while triggers were disabled is found and mended by `pemba sql reconcile --repair`.
--
-- Permission data of the table app.shares, by the map `shares`.
--
-- The triggers run once for each statement, in its transaction: permission data and rows are committed
-- together, or not at all. What the map derives cannot be written in another way.
--
-- - Run this as the owner of the table, with the rights of `pemba sql grant --for map`. Triggers read the
--   table with the rights of the role that runs it.
-- - Rows that are there already are taken by `pemba sql map FILE --load`, after this.
-- - A transaction that changes a mapped column needs the isolation level read committed, and is run again
--   on 40001 and 40P01.
-- - `truncate` is refused.
-- - `insert ... returning` under row security is judged before the triggers run: let the policy also allow
--   a row by its own columns, such as `owner_id = ...`.
-- - Rows that logical replication writes are not seen, also not if `enable always trigger` is said: it runs
--   no triggers of statements. Run `pemba sql reconcile --repair`.
-- - What happened while triggers were disabled is found and mended by `pemba sql reconcile --repair`.

begin;

set local search_path to pg_catalog, pg_temp;

create or replace function "pemba"."map_folders"()
returns trigger
language plpgsql volatile security definer
set search_path to pg_catalog, pg_temp
set row_security to 'off'
set jit to 'off'
set enable_seqscan to 'off'
as $map$
declare
  change record;
  -- The assignment of an expression is evaluated directly. `perform` would run a query.
  changed integer;
begin
  if tg_op = 'INSERT' then
    with touched as (select r."id" as k1 from pemba_latter as r),
    present as (
      select r."id" as k1,
        ('t1') collate "C" as tenant,
        (r."id"::text) collate "C" as entity_id,
        (r."parent_id"::text) collate "C" as s1
      from touched as t
      cross join lateral (
        select r.* from "app"."folders" as r where r."id" = t.k1 offset 0
      ) as r
      -- So that an id or a value is made once, and not for each list.
      offset 0
    )
    select 't1' as tenant,
      array_agg(s.entity_id) filter (where s.s1 is not null) as entity_ids,
      array_fill('parent'::text, array[count(s.s1)::integer]) as names,
      array_fill('folder'::text, array[count(s.s1)::integer]) as types,
      array_agg(s.s1) filter (where s.s1 is not null) as ids,
      array_fill(''::text, array[count(s.s1)::integer]) as relations
    into change
    from present as s
    where s.entity_id is not null;
    if change.entity_ids is not null then
      changed := "pemba".create_derived_tuples('folders', change.tenant, 'folder', change.entity_ids, change.names, change.types, change.ids, change.relations, false);
    end if;
  elsif tg_op = 'UPDATE' then
    -- Most updates change no column of the map.
    perform from (
      select r."id" as k1,
        ('t1') collate "C" as tenant,
        (r."id"::text) collate "C" as entity_id,
        (r."parent_id"::text) collate "C" as s1
      from pemba_former as r
      except all
      select r."id" as k1,
        ('t1') collate "C" as tenant,
        (r."id"::text) collate "C" as entity_id,
        (r."parent_id"::text) collate "C" as s1
      from pemba_latter as r
    ) as r;
    if not found then
      return null;
    end if;
    for change in
      with former_rows as materialized (
        select r."id" as k1,
          ('t1') collate "C" as tenant,
          (r."id"::text) collate "C" as entity_id,
          (r."parent_id"::text) collate "C" as s1
        from pemba_former as r
      ),
      latter_rows as materialized (
        select r."id" as k1,
          ('t1') collate "C" as tenant,
          (r."id"::text) collate "C" as entity_id,
          (r."parent_id"::text) collate "C" as s1
        from pemba_latter as r
      ),
      gone as materialized (select * from former_rows except all select * from latter_rows),
      made as materialized (select * from latter_rows except all select * from former_rows),
      touched as (select k1 from gone union select k1 from made),
      present as materialized (
        select r."id" as k1,
          ('t1') collate "C" as tenant,
          (r."id"::text) collate "C" as entity_id,
          (r."parent_id"::text) collate "C" as s1
        from touched as t
        cross join lateral (
          select r.* from "app"."folders" as r where r."id" = t.k1 offset 0
        ) as r
      ),
      given as materialized (
        select e.is_attribute, s.tenant, s.entity_id, e.name, e.type, e.id, e.relation
        from gone as s
        cross join lateral (values
          (false, 'parent', 'folder', s.s1, '')
        ) as e(is_attribute, name, type, id, relation)
        where e.id is not null and s.entity_id is not null and s.tenant is not null
      ),
      now_given as materialized (
        select e.is_attribute, s.tenant, s.entity_id, e.name, e.type, e.id, e.relation
        from present as s
        cross join lateral (values
          (false, 'parent', 'folder', s.s1, '')
        ) as e(is_attribute, name, type, id, relation)
        where e.id is not null and s.entity_id is not null and s.tenant is not null
      )
      select c.is_made, c.is_attribute, c.tenant, array_agg(c.entity_id) as entity_ids, array_agg(c.name) as names, array_agg(c.type) as types, array_agg(c.id) as ids, array_agg(c.relation) as relations
      from (
        select false as is_made, c.*
        from (select * from given except select * from now_given) as c
        union all
        select true as is_made, c.*
        from (select * from now_given except select * from given) as c
      ) as c(is_made, is_attribute, tenant, entity_id, name, type, id, relation)
      group by c.is_made, c.is_attribute, c.tenant
      order by c.tenant, c.is_made, c.is_attribute
    loop
      if not change.is_made and not change.is_attribute then
        changed := "pemba".delete_derived_tuples('folders', change.tenant, 'folder', change.entity_ids, change.names, change.types, change.ids, change.relations);
      end if;
      if change.is_made and not change.is_attribute then
        changed := "pemba".create_derived_tuples('folders', change.tenant, 'folder', change.entity_ids, change.names, change.types, change.ids, change.relations, false);
      end if;
    end loop;
  elsif tg_op = 'DELETE' then
    with gone as materialized (
      select r."id" as k1,
        ('t1') collate "C" as tenant,
        (r."id"::text) collate "C" as entity_id,
        (r."parent_id"::text) collate "C" as s1
      from pemba_former as r
    ),
    touched as (select distinct k1 from gone),
    present as materialized (
      select r."id" as k1,
        ('t1') collate "C" as tenant,
        (r."id"::text) collate "C" as entity_id,
        (r."parent_id"::text) collate "C" as s1
      from touched as t
      cross join lateral (
        select r.* from "app"."folders" as r where r."id" = t.k1 offset 0
      ) as r
    ),
    given as materialized (
      select e.is_attribute, s.tenant, s.entity_id, e.name, e.type, e.id, e.relation
      from gone as s
      cross join lateral (values
        (false, 'parent', 'folder', s.s1, '')
      ) as e(is_attribute, name, type, id, relation)
      where e.id is not null and s.entity_id is not null and s.tenant is not null
    ),
    now_given as materialized (
      select e.is_attribute, s.tenant, s.entity_id, e.name, e.type, e.id, e.relation
      from present as s
      cross join lateral (values
        (false, 'parent', 'folder', s.s1, '')
      ) as e(is_attribute, name, type, id, relation)
      where e.id is not null and s.entity_id is not null and s.tenant is not null
    )
    select 't1' as tenant, array_agg(c.entity_id) as entity_ids, array_agg(c.name) as names, array_agg(c.type) as types, array_agg(c.id) as ids, array_agg(c.relation) as relations
    into change
    from (
      select false as is_made, c.*
      from (select * from given except select * from now_given) as c
    ) as c(is_made, is_attribute, tenant, entity_id, name, type, id, relation);
    if change.entity_ids is not null then
      changed := "pemba".delete_derived_tuples('folders', change.tenant, 'folder', change.entity_ids, change.names, change.types, change.ids, change.relations);
    end if;
  else
    raise exception using
      errcode = 'object_not_in_prerequisite_state',
      message = 'the table app.folders cannot be truncated: the map `folders` derives permission data from its rows',
      hint = 'delete the rows, or give the map `truncate: delete`';
  end if;
  return null;
end
$map$;

revoke execute on function "pemba"."map_folders"() from public;

drop trigger if exists "pemba_folders_insert" on "app"."folders";

create trigger "pemba_folders_insert"
after insert on "app"."folders"
referencing new table as pemba_latter
for each statement execute function "pemba"."map_folders"();

drop trigger if exists "pemba_folders_update" on "app"."folders";

create trigger "pemba_folders_update"
after update on "app"."folders"
referencing old table as pemba_former new table as pemba_latter
for each statement execute function "pemba"."map_folders"();

drop trigger if exists "pemba_folders_delete" on "app"."folders";

create trigger "pemba_folders_delete"
after delete on "app"."folders"
referencing old table as pemba_former
for each statement execute function "pemba"."map_folders"();

drop trigger if exists "pemba_folders_truncate" on "app"."folders";

create trigger "pemba_folders_truncate"
before truncate on "app"."folders"
for each statement execute function "pemba"."map_folders"();

select "pemba".keep_map(
  'folders', 'app.folders',
  '[{"name":"folders","table":"app.folders","tenant":"t1","entity":"folder:{id}","tuples":["parent@folder:{parent_id}"],"attributes":[],"truncate":"refuse"}]',
  't1',
  '[{"label":"folder#parent@folder","entity_type":"folder","relation":"parent","subject_type":"folder","subject_relation":"","attribute":""}]'
);

set local search_path to pg_catalog, pg_temp;

create or replace function "pemba"."map_documents"()
returns trigger
language plpgsql volatile security definer
set search_path to pg_catalog, pg_temp
set row_security to 'off'
set jit to 'off'
set enable_seqscan to 'off'
as $map$
declare
  change record;
  -- The assignment of an expression is evaluated directly. `perform` would run a query.
  changed integer;
begin
  if tg_op = 'INSERT' then
    with touched as (select r."id" as k1 from pemba_latter as r),
    present as (
      select r."id" as k1,
        ('t1') collate "C" as tenant,
        (r."id"::text) collate "C" as entity_id,
        (r."folder_id"::text) collate "C" as s1,
        to_jsonb(r."is_public")::text as v1
      from touched as t
      cross join lateral (
        select r.* from "app"."documents" as r where r."id" = t.k1 offset 0
      ) as r
      -- So that an id or a value is made once, and not for each list.
      offset 0
    )
    select 't1' as tenant,
      array_agg(s.entity_id) filter (where s.s1 is not null) as entity_ids,
      array_fill('parent'::text, array[count(s.s1)::integer]) as names,
      array_fill('folder'::text, array[count(s.s1)::integer]) as types,
      array_agg(s.s1) filter (where s.s1 is not null) as ids,
      array_fill(''::text, array[count(s.s1)::integer]) as relations,
      array_agg(s.entity_id) filter (where s.v1 is not null) as attribute_entity_ids,
      array_fill('public'::text, array[count(s.v1)::integer]) as attribute_names,
      array_fill('boolean'::text, array[count(s.v1)::integer]) as attribute_types,
      array_agg(s.v1) filter (where s.v1 is not null) as attribute_ids,
      array_fill(''::text, array[count(s.v1)::integer]) as attribute_relations
    into change
    from present as s
    where s.entity_id is not null;
    if change.entity_ids is not null then
      changed := "pemba".create_derived_tuples('documents', change.tenant, 'document', change.entity_ids, change.names, change.types, change.ids, change.relations, false);
    end if;
    if change.attribute_entity_ids is not null then
      changed := "pemba".set_derived_attributes('documents', change.tenant, 'document', change.attribute_entity_ids, change.attribute_names, change.attribute_types, change.attribute_ids, false);
    end if;
  elsif tg_op = 'UPDATE' then
    -- Most updates change no column of the map.
    perform from (
      select r."id" as k1,
        ('t1') collate "C" as tenant,
        (r."id"::text) collate "C" as entity_id,
        (r."folder_id"::text) collate "C" as s1,
        to_jsonb(r."is_public")::text as v1
      from pemba_former as r
      except all
      select r."id" as k1,
        ('t1') collate "C" as tenant,
        (r."id"::text) collate "C" as entity_id,
        (r."folder_id"::text) collate "C" as s1,
        to_jsonb(r."is_public")::text as v1
      from pemba_latter as r
    ) as r;
    if not found then
      return null;
    end if;
    for change in
      with former_rows as materialized (
        select r."id" as k1,
          ('t1') collate "C" as tenant,
          (r."id"::text) collate "C" as entity_id,
          (r."folder_id"::text) collate "C" as s1,
          to_jsonb(r."is_public")::text as v1
        from pemba_former as r
      ),
      latter_rows as materialized (
        select r."id" as k1,
          ('t1') collate "C" as tenant,
          (r."id"::text) collate "C" as entity_id,
          (r."folder_id"::text) collate "C" as s1,
          to_jsonb(r."is_public")::text as v1
        from pemba_latter as r
      ),
      gone as materialized (select * from former_rows except all select * from latter_rows),
      made as materialized (select * from latter_rows except all select * from former_rows),
      touched as (select k1 from gone union select k1 from made),
      present as materialized (
        select r."id" as k1,
          ('t1') collate "C" as tenant,
          (r."id"::text) collate "C" as entity_id,
          (r."folder_id"::text) collate "C" as s1,
          to_jsonb(r."is_public")::text as v1
        from touched as t
        cross join lateral (
          select r.* from "app"."documents" as r where r."id" = t.k1 offset 0
        ) as r
      ),
      given as materialized (
        select e.is_attribute, s.tenant, s.entity_id, e.name, e.type, e.id, e.relation
        from gone as s
        cross join lateral (values
          (false, 'parent', 'folder', s.s1, ''),
          (true, 'public', 'boolean', s.v1, '')
        ) as e(is_attribute, name, type, id, relation)
        where e.id is not null and s.entity_id is not null and s.tenant is not null
      ),
      now_given as materialized (
        select e.is_attribute, s.tenant, s.entity_id, e.name, e.type, e.id, e.relation
        from present as s
        cross join lateral (values
          (false, 'parent', 'folder', s.s1, ''),
          (true, 'public', 'boolean', s.v1, '')
        ) as e(is_attribute, name, type, id, relation)
        where e.id is not null and s.entity_id is not null and s.tenant is not null
      )
      select c.is_made, c.is_attribute, c.tenant, array_agg(c.entity_id) as entity_ids, array_agg(c.name) as names, array_agg(c.type) as types, array_agg(c.id) as ids, array_agg(c.relation) as relations
      from (
        select false as is_made, c.*
        from (select * from given except select * from now_given) as c
        where not c.is_attribute or not exists (
          select
          from now_given as a
          where a.is_attribute and (a.tenant, a.entity_id, a.name) = (c.tenant, c.entity_id, c.name)
        )
        union all
        select true as is_made, c.*
        from (select * from now_given except select * from given) as c
      ) as c(is_made, is_attribute, tenant, entity_id, name, type, id, relation)
      group by c.is_made, c.is_attribute, c.tenant
      order by c.tenant, c.is_made, c.is_attribute
    loop
      if not change.is_made and not change.is_attribute then
        changed := "pemba".delete_derived_tuples('documents', change.tenant, 'document', change.entity_ids, change.names, change.types, change.ids, change.relations);
      end if;
      if not change.is_made and change.is_attribute then
        changed := "pemba".delete_derived_attributes('documents', change.tenant, 'document', change.entity_ids, change.names);
      end if;
      if change.is_made and not change.is_attribute then
        changed := "pemba".create_derived_tuples('documents', change.tenant, 'document', change.entity_ids, change.names, change.types, change.ids, change.relations, false);
      end if;
      if change.is_made and change.is_attribute then
        changed := "pemba".set_derived_attributes('documents', change.tenant, 'document', change.entity_ids, change.names, change.types, change.ids, false);
      end if;
    end loop;
  elsif tg_op = 'DELETE' then
    for change in
      with gone as materialized (
        select r."id" as k1,
          ('t1') collate "C" as tenant,
          (r."id"::text) collate "C" as entity_id,
          (r."folder_id"::text) collate "C" as s1,
          to_jsonb(r."is_public")::text as v1
        from pemba_former as r
      ),
      touched as (select distinct k1 from gone),
      present as materialized (
        select r."id" as k1,
          ('t1') collate "C" as tenant,
          (r."id"::text) collate "C" as entity_id,
          (r."folder_id"::text) collate "C" as s1,
          to_jsonb(r."is_public")::text as v1
        from touched as t
        cross join lateral (
          select r.* from "app"."documents" as r where r."id" = t.k1 offset 0
        ) as r
      ),
      given as materialized (
        select e.is_attribute, s.tenant, s.entity_id, e.name, e.type, e.id, e.relation
        from gone as s
        cross join lateral (values
          (false, 'parent', 'folder', s.s1, ''),
          (true, 'public', 'boolean', s.v1, '')
        ) as e(is_attribute, name, type, id, relation)
        where e.id is not null and s.entity_id is not null and s.tenant is not null
      ),
      now_given as materialized (
        select e.is_attribute, s.tenant, s.entity_id, e.name, e.type, e.id, e.relation
        from present as s
        cross join lateral (values
          (false, 'parent', 'folder', s.s1, ''),
          (true, 'public', 'boolean', s.v1, '')
        ) as e(is_attribute, name, type, id, relation)
        where e.id is not null and s.entity_id is not null and s.tenant is not null
      )
      select c.is_made, c.is_attribute, c.tenant, array_agg(c.entity_id) as entity_ids, array_agg(c.name) as names, array_agg(c.type) as types, array_agg(c.id) as ids, array_agg(c.relation) as relations
      from (
        select false as is_made, c.*
        from (select * from given except select * from now_given) as c
        where not c.is_attribute or not exists (
          select
          from now_given as a
          where a.is_attribute and (a.tenant, a.entity_id, a.name) = (c.tenant, c.entity_id, c.name)
        )
      ) as c(is_made, is_attribute, tenant, entity_id, name, type, id, relation)
      group by c.is_made, c.is_attribute, c.tenant
      order by c.tenant, c.is_made, c.is_attribute
    loop
      if not change.is_made and not change.is_attribute then
        changed := "pemba".delete_derived_tuples('documents', change.tenant, 'document', change.entity_ids, change.names, change.types, change.ids, change.relations);
      end if;
      if not change.is_made and change.is_attribute then
        changed := "pemba".delete_derived_attributes('documents', change.tenant, 'document', change.entity_ids, change.names);
      end if;
    end loop;
  else
    raise exception using
      errcode = 'object_not_in_prerequisite_state',
      message = 'the table app.documents cannot be truncated: the map `documents` derives permission data from its rows',
      hint = 'delete the rows, or give the map `truncate: delete`';
  end if;
  return null;
end
$map$;

revoke execute on function "pemba"."map_documents"() from public;

drop trigger if exists "pemba_documents_insert" on "app"."documents";

create trigger "pemba_documents_insert"
after insert on "app"."documents"
referencing new table as pemba_latter
for each statement execute function "pemba"."map_documents"();

drop trigger if exists "pemba_documents_update" on "app"."documents";

create trigger "pemba_documents_update"
after update on "app"."documents"
referencing old table as pemba_former new table as pemba_latter
for each statement execute function "pemba"."map_documents"();

drop trigger if exists "pemba_documents_delete" on "app"."documents";

create trigger "pemba_documents_delete"
after delete on "app"."documents"
referencing old table as pemba_former
for each statement execute function "pemba"."map_documents"();

drop trigger if exists "pemba_documents_truncate" on "app"."documents";

create trigger "pemba_documents_truncate"
before truncate on "app"."documents"
for each statement execute function "pemba"."map_documents"();

select "pemba".keep_map(
  'documents', 'app.documents',
  '[{"name":"documents","table":"app.documents","tenant":"t1","entity":"document:{id}","tuples":["parent@folder:{folder_id}"],"attributes":["public: {is_public}"],"truncate":"refuse"}]',
  't1',
  '[{"label":"document#parent@folder","entity_type":"document","relation":"parent","subject_type":"folder","subject_relation":"","attribute":""},{"label":"document$public","entity_type":"document","relation":"","subject_type":"","subject_relation":"","attribute":"public"}]'
);

set local search_path to pg_catalog, pg_temp;

create or replace function "pemba"."map_shares"()
returns trigger
language plpgsql volatile security definer
set search_path to pg_catalog, pg_temp
set row_security to 'off'
set jit to 'off'
set enable_seqscan to 'off'
as $map$
declare
  change record;
  -- The assignment of an expression is evaluated directly. `perform` would run a query.
  changed integer;
begin
  if tg_op = 'INSERT' then
    with touched as (select r."document_id" as k1, r."user_id" as k2 from pemba_latter as r),
    present as (
      select r."document_id" as k1,
        r."user_id" as k2,
        ('t1') collate "C" as tenant,
        (r."document_id"::text) collate "C" as entity_id,
        (r."user_id"::text) collate "C" as s1
      from touched as t
      cross join lateral (
        select r.* from "app"."shares" as r where r."document_id" = t.k1 and r."user_id" = t.k2 offset 0
      ) as r
      -- So that an id or a value is made once, and not for each list.
      offset 0
    )
    select 't1' as tenant,
      array_agg(s.entity_id) filter (where s.s1 is not null) as entity_ids,
      array_fill('viewer'::text, array[count(s.s1)::integer]) as names,
      array_fill('user'::text, array[count(s.s1)::integer]) as types,
      array_agg(s.s1) filter (where s.s1 is not null) as ids,
      array_fill(''::text, array[count(s.s1)::integer]) as relations
    into change
    from present as s
    where s.entity_id is not null;
    if change.entity_ids is not null then
      changed := "pemba".create_derived_tuples('shares', change.tenant, 'document', change.entity_ids, change.names, change.types, change.ids, change.relations, true);
    end if;
  elsif tg_op = 'UPDATE' then
    -- Most updates change no column of the map.
    perform from (
      select r."document_id" as k1,
        r."user_id" as k2,
        ('t1') collate "C" as tenant,
        (r."document_id"::text) collate "C" as entity_id,
        (r."user_id"::text) collate "C" as s1
      from pemba_former as r
      except all
      select r."document_id" as k1,
        r."user_id" as k2,
        ('t1') collate "C" as tenant,
        (r."document_id"::text) collate "C" as entity_id,
        (r."user_id"::text) collate "C" as s1
      from pemba_latter as r
    ) as r;
    if not found then
      return null;
    end if;
    for change in
      with former_rows as materialized (
        select r."document_id" as k1,
          r."user_id" as k2,
          ('t1') collate "C" as tenant,
          (r."document_id"::text) collate "C" as entity_id,
          (r."user_id"::text) collate "C" as s1
        from pemba_former as r
      ),
      latter_rows as materialized (
        select r."document_id" as k1,
          r."user_id" as k2,
          ('t1') collate "C" as tenant,
          (r."document_id"::text) collate "C" as entity_id,
          (r."user_id"::text) collate "C" as s1
        from pemba_latter as r
      ),
      gone as materialized (select * from former_rows except all select * from latter_rows),
      made as materialized (select * from latter_rows except all select * from former_rows),
      touched as (select k1, k2 from gone union select k1, k2 from made),
      present as materialized (
        select r."document_id" as k1,
          r."user_id" as k2,
          ('t1') collate "C" as tenant,
          (r."document_id"::text) collate "C" as entity_id,
          (r."user_id"::text) collate "C" as s1
        from touched as t
        cross join lateral (
          select r.* from "app"."shares" as r where r."document_id" = t.k1 and r."user_id" = t.k2 offset 0
        ) as r
      ),
      given as materialized (
        select e.is_attribute, s.tenant, s.entity_id, e.name, e.type, e.id, e.relation
        from gone as s
        cross join lateral (values
          (false, 'viewer', 'user', s.s1, '')
        ) as e(is_attribute, name, type, id, relation)
        where e.id is not null and s.entity_id is not null and s.tenant is not null
      ),
      now_given as materialized (
        select e.is_attribute, s.tenant, s.entity_id, e.name, e.type, e.id, e.relation
        from present as s
        cross join lateral (values
          (false, 'viewer', 'user', s.s1, '')
        ) as e(is_attribute, name, type, id, relation)
        where e.id is not null and s.entity_id is not null and s.tenant is not null
      )
      select c.is_made, c.is_attribute, c.tenant, array_agg(c.entity_id) as entity_ids, array_agg(c.name) as names, array_agg(c.type) as types, array_agg(c.id) as ids, array_agg(c.relation) as relations
      from (
        select false as is_made, c.*
        from (select * from given except select * from now_given) as c
        union all
        select true as is_made, c.*
        from (select * from now_given except select * from given) as c
      ) as c(is_made, is_attribute, tenant, entity_id, name, type, id, relation)
      group by c.is_made, c.is_attribute, c.tenant
      order by c.tenant, c.is_made, c.is_attribute
    loop
      if not change.is_made and not change.is_attribute then
        changed := "pemba".delete_derived_tuples('shares', change.tenant, 'document', change.entity_ids, change.names, change.types, change.ids, change.relations);
      end if;
      if change.is_made and not change.is_attribute then
        changed := "pemba".create_derived_tuples('shares', change.tenant, 'document', change.entity_ids, change.names, change.types, change.ids, change.relations, true);
      end if;
    end loop;
  elsif tg_op = 'DELETE' then
    with gone as materialized (
      select r."document_id" as k1,
        r."user_id" as k2,
        ('t1') collate "C" as tenant,
        (r."document_id"::text) collate "C" as entity_id,
        (r."user_id"::text) collate "C" as s1
      from pemba_former as r
    ),
    touched as (select distinct k1, k2 from gone),
    present as materialized (
      select r."document_id" as k1,
        r."user_id" as k2,
        ('t1') collate "C" as tenant,
        (r."document_id"::text) collate "C" as entity_id,
        (r."user_id"::text) collate "C" as s1
      from touched as t
      cross join lateral (
        select r.* from "app"."shares" as r where r."document_id" = t.k1 and r."user_id" = t.k2 offset 0
      ) as r
    ),
    given as materialized (
      select e.is_attribute, s.tenant, s.entity_id, e.name, e.type, e.id, e.relation
      from gone as s
      cross join lateral (values
        (false, 'viewer', 'user', s.s1, '')
      ) as e(is_attribute, name, type, id, relation)
      where e.id is not null and s.entity_id is not null and s.tenant is not null
    ),
    now_given as materialized (
      select e.is_attribute, s.tenant, s.entity_id, e.name, e.type, e.id, e.relation
      from present as s
      cross join lateral (values
        (false, 'viewer', 'user', s.s1, '')
      ) as e(is_attribute, name, type, id, relation)
      where e.id is not null and s.entity_id is not null and s.tenant is not null
    )
    select 't1' as tenant, array_agg(c.entity_id) as entity_ids, array_agg(c.name) as names, array_agg(c.type) as types, array_agg(c.id) as ids, array_agg(c.relation) as relations
    into change
    from (
      select false as is_made, c.*
      from (select * from given except select * from now_given) as c
    ) as c(is_made, is_attribute, tenant, entity_id, name, type, id, relation);
    if change.entity_ids is not null then
      changed := "pemba".delete_derived_tuples('shares', change.tenant, 'document', change.entity_ids, change.names, change.types, change.ids, change.relations);
    end if;
  else
    raise exception using
      errcode = 'object_not_in_prerequisite_state',
      message = 'the table app.shares cannot be truncated: the map `shares` derives permission data from its rows',
      hint = 'delete the rows, or give the map `truncate: delete`';
  end if;
  return null;
end
$map$;

revoke execute on function "pemba"."map_shares"() from public;

drop trigger if exists "pemba_shares_insert" on "app"."shares";

create trigger "pemba_shares_insert"
after insert on "app"."shares"
referencing new table as pemba_latter
for each statement execute function "pemba"."map_shares"();

drop trigger if exists "pemba_shares_update" on "app"."shares";

create trigger "pemba_shares_update"
after update on "app"."shares"
referencing old table as pemba_former new table as pemba_latter
for each statement execute function "pemba"."map_shares"();

drop trigger if exists "pemba_shares_delete" on "app"."shares";

create trigger "pemba_shares_delete"
after delete on "app"."shares"
referencing old table as pemba_former
for each statement execute function "pemba"."map_shares"();

drop trigger if exists "pemba_shares_truncate" on "app"."shares";

create trigger "pemba_shares_truncate"
before truncate on "app"."shares"
for each statement execute function "pemba"."map_shares"();

select "pemba".keep_map(
  'shares', 'app.shares',
  '[{"name":"shares","table":"app.shares","tenant":"t1","entity":"document:{document_id}","tuples":["viewer@user:{user_id}"],"attributes":[],"truncate":"refuse"}]',
  't1',
  '[{"label":"document#viewer@user","entity_type":"document","relation":"viewer","subject_type":"user","subject_relation":"","attribute":""}]'
);

commit;
