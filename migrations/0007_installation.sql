-- Up Migration

-- One row: the cluster and database whose transaction ids the rows carry, and the transaction id
-- below which history is gone.
create table installation (
  only_row boolean primary key default true check (only_row),
  system_identifier text collate "C" not null,
  database_oid oid not null,
  horizon xid8 not null default '0'
);

-- The first transaction id of each timeline of the cluster on which Pemba wrote: after a failover
-- or a recovery to a point in time, ids from there on have another meaning than before.
create table timelines (
  system_identifier text collate "C" not null,
  timeline integer not null,
  first_xid xid8 not null,
  primary key (system_identifier, timeline)
);

-- The timeline that the server writes now. The control file lags behind after a promotion.
create function current_timeline() returns integer
language sql volatile parallel safe
as $$
  select ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::integer
$$;

-- Advisory locks of a tenant: slot 0 is the tenant itself, 1 to 64 are stripes of its keys. Tenant
-- 0 does not exist, its slot 0 is the installation. The constant keeps clear of other programs.
create function lock_key(tenant bigint, slot integer) returns bigint
language sql immutable parallel safe
as $$
  select 5793156763356233728 + tenant * 128 + slot
$$;

-- Says whose tokens are good here, after it has made so what a start finds otherwise:
-- * a first start, or a new timeline, is recorded;
-- * a copy in another cluster or database starts without history: transaction ids of the original
--   mean nothing here and would look like the future, so live rows count as always visible and the
--   log is emptied. Tokens of the original are refused by their identity.
create function open_installation()
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

-- Notes the first transaction id of a timeline, once. The lower end of the snapshot lies below the
-- id of every transaction that may write beside this one.
create function record_timeline(here_system text, here_timeline integer) returns void
language plpgsql volatile
as $$
begin
  if not exists (
    select from timelines as known
    where known.system_identifier = here_system and known.timeline = here_timeline
  ) then
    insert into timelines (system_identifier, timeline, first_xid)
      values (here_system, here_timeline, pg_snapshot_xmin(pg_current_snapshot()))
      on conflict do nothing;
  end if;
end
$$;

-- Down Migration

drop function open_installation();
drop function record_timeline(text, integer);
drop function lock_key(bigint, integer);
drop function current_timeline();
drop table timelines;
drop table installation;
