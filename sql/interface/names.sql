-- What can be written under a schema version. A row is an entity type (its `name` is empty), a subject
-- that a relation allows, or an attribute with the type of its value.
create table if not exists :"plans".names (
  tenant bigint not null,
  version text collate "C" not null,
  entity_type text collate "C" not null,
  name text collate "C" not null,
  subject_type text collate "C" not null,
  subject_relation text collate "C" not null,
  -- Of an attribute, else empty.
  value_type text collate "C" not null,
  -- In the order of the schema.
  place integer not null,
  primary key (tenant, version, entity_type, name, subject_type, subject_relation)
)
