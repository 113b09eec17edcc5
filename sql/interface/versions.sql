-- The schema versions whose questions are known, and of what they were made.
create table if not exists :"plans".versions (
  tenant bigint not null,
  version text collate "C" not null,
  fingerprint text collate "C" not null,
  primary key (tenant, version)
)
