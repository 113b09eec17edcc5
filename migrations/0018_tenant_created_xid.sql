-- Up Migration

-- The transaction that made a tenant. A state that does not show it is not one of this tenant: a
-- token of a tenant that had the id before must not be good for this one. Tenants that are there
-- already count as having always been there.
alter table tenants add column created_xid xid8 not null default '1';
alter table tenants alter column created_xid set default pg_current_xact_id();

-- As before, and in a copy tenants, too, count as having always been there.
create or replace function open_installation()
returns table (identity text, timeline integer, first_xid xid8)
language plpgsql volatile
as $$
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
$$;

-- Down Migration

create or replace function open_installation()
returns table (identity text, timeline integer, first_xid xid8)
language plpgsql volatile
as $$
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
$$;

alter table tenants drop column created_xid;
