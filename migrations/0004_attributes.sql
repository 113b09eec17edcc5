-- Up Migration

-- Live values only. Numbers that JSON does not have are the strings NaN, Infinity and -Infinity.
create table attributes (
  tenant bigint not null,
  entity_type text collate "C" not null,
  entity_id text collate "C" not null,
  attribute text collate "C" not null,
  value_type text collate "C" not null,
  value jsonb not null,
  created_xid xid8 not null
)
-- Room for an overwritten value on its own page, so that overwriting touches no index.
with (
  fillfactor = 80,
  autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_vacuum_insert_scale_factor = 0.02,
  autovacuum_analyze_scale_factor = 0.05
);

create unique index attributes_by_entity on attributes
  (entity_id, attribute, entity_type, tenant);

-- Down Migration

drop table attributes;
