-- Up Migration

create table schemas (
  tenant bigint not null,
  version text collate "C" not null,
  text text collate "C" not null,
  created_at timestamptz not null default now(),
  primary key (tenant, version)
);

-- Down Migration

drop table schemas;
