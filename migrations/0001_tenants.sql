-- Up Migration

-- Rows everywhere are keyed by the number, which is never used again: the id is free for another
-- tenant as soon as this row is gone.
create table tenants (
  number bigint generated always as identity primary key,
  id text collate "C" not null unique,
  name text collate "C" not null,
  created_at timestamptz not null default now(),
  head_version text collate "C"
);

insert into tenants (id, name) values ('t1', 'example tenant');

-- Tenants whose rows are still to be removed.
create table removed_tenants (
  number bigint primary key
);

-- Down Migration

drop table removed_tenants;
drop table tenants;
