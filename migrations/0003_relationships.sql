-- Up Migration

-- Live tuples only. Index columns stand most selective first.
create table relationships (
  tenant bigint not null,
  entity_type text collate "C" not null,
  entity_id text collate "C" not null,
  relation text collate "C" not null,
  subject_type text collate "C" not null,
  subject_id text collate "C" not null,
  subject_relation text collate "C" not null,
  created_xid xid8 not null
)
-- Index-only scans need an up-to-date visibility map, also when rows are only ever added.
with (
  autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_vacuum_insert_scale_factor = 0.02,
  autovacuum_analyze_scale_factor = 0.05
);

create unique index relationships_by_entity on relationships
  (entity_id, relation, entity_type, tenant, subject_type, subject_relation, subject_id);

-- Every tuple has a subject. The condition keeps the index from those who do not say which: in an
-- empty table it costs the planner as little as the other one, and it would read it from end to end.
create index relationships_by_subject on relationships
  (subject_id, subject_type, tenant, subject_relation, entity_type, relation, entity_id)
  where subject_id is not null;

-- Down Migration

drop table relationships;
