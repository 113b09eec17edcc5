-- Up Migration

-- Readings of the oldest transaction that was running. A snapshot that is taken after a reading has
-- nothing older running, so what is older than the reading at the beginning of the window serves
-- no token of the window. The log alone does not tell: a transaction that was running for long, and
-- perhaps never logged anything, holds back every snapshot that is taken meanwhile.
create table horizons (
  system_identifier text collate "C" not null,
  database_oid oid not null,
  at timestamptz not null,
  oldest_xid xid8 not null,
  primary key (system_identifier, database_oid, at)
);

-- When history was last collected to the end.
alter table installation add column collected_at timestamptz;

-- The transaction id below which history serves no token that was given out after `cutoff`. With
-- `by_log` the times in the log count as well, where readings are missing: then a token may be
-- refused that was given out after `cutoff` while a transaction from before it was still open, and
-- none is answered wrongly.
create function horizon_before(cutoff timestamptz, by_log boolean) returns xid8
language sql volatile
set enable_seqscan = on
as $$
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
$$;

-- Down Migration

drop function horizon_before(timestamptz, boolean);
alter table installation drop column collected_at;
drop table horizons;
