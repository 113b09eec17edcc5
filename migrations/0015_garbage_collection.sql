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

-- The transaction id below which history serves no token that was given out after `cutoff`. While
-- no reading is that old, the log tells: a token that was given out during a transaction that began
-- before `cutoff` and ended after it may then be refused, and none is answered wrongly.
create function horizon_before(cutoff timestamptz) returns xid8
language sql volatile
set enable_seqscan = on
as $$
  select coalesce(
    (
      select horizons.oldest_xid
      from horizons
      join installation using (system_identifier, database_oid)
      where horizons.at <= cutoff
      order by horizons.at desc
      limit 1
    ),
    (
      select least(changes.xid, pg_snapshot_xmin(pg_current_snapshot()))
      from changes
      where changes.at < cutoff
      order by changes.xid desc
      limit 1
    ),
    '0'
  )
$$;

-- Down Migration

drop function horizon_before(timestamptz);
alter table installation drop column collected_at;
drop table horizons;
