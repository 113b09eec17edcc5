-- Up Migration

create table bundles (
  tenant bigint not null,
  name text collate "C" not null,
  payload jsonb not null,
  created_at timestamptz not null default now(),
  primary key (tenant, name)
);

-- Down Migration

drop table bundles;
