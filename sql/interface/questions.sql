-- What can be asked in SQL under a schema version.
create table if not exists :"plans".questions (
  tenant bigint not null,
  version text collate "C" not null,
  entity_type text collate "C" not null,
  permission text collate "C" not null,
  subject_type text collate "C" not null,
  subject_relation text collate "C" not null,
  -- The hash of the plan function of each kind.
  plans jsonb not null,
  -- Why some kind has no function.
  obstacle text collate "C",
  primary key (tenant, version, entity_type, permission, subject_type, subject_relation)
)
