-- Up Migration

-- The log of every create and delete: relation is set for a tuple, attribute for an attribute.
-- `created_xid` of a delete says when what it deleted had been created.
create table changes (
  tenant bigint not null,
  xid xid8 not null,
  ordinal integer not null,
  operation text collate "C" not null check (operation in ('create', 'delete')),
  entity_type text collate "C" not null,
  entity_id text collate "C" not null,
  relation text collate "C",
  subject_type text collate "C",
  subject_id text collate "C",
  subject_relation text collate "C",
  attribute text collate "C",
  value_type text collate "C",
  value jsonb,
  created_xid xid8,
  at timestamptz not null default now(),
  primary key (tenant, xid, ordinal),
  check ((relation is null) <> (attribute is null)),
  check ((operation = 'delete') = (created_xid is not null))
)
with (
  autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_vacuum_insert_scale_factor = 0.02
);

-- What a snapshot of the past still saw is found among the deletes. While the log is short all of
-- its indexes cost the planner the same, and it may keep a plan that reads one from end to end; so
-- each can only be used by those who are meant to. The tenant is written `tenant + 0` for these, or
-- the primary key would do; an index by subject holds what has one, not what has a relation, or it
-- would do for those who know none.
create index changes_deleted_tuples_by_entity on changes
  (entity_id, relation, entity_type, (tenant + 0), subject_type, subject_relation, subject_id)
  where operation = 'delete' and relation is not null;

create index changes_deleted_tuples_by_subject on changes
  (subject_id, subject_type, (tenant + 0), subject_relation, entity_type, relation, entity_id)
  where operation = 'delete' and subject_id is not null;

create index changes_deleted_attributes on changes
  (entity_id, attribute, entity_type, (tenant + 0))
  where operation = 'delete' and attribute is not null;

-- Down Migration

drop table changes;
