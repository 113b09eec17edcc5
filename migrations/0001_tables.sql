-- Up Migration

-- Every other table has the number of a tenant and not its id. A number is never used again, so the
-- id is free for another tenant as soon as this row is gone.
create table tenants (
  number bigint generated always as identity primary key,
  id text collate "C" not null unique,
  name text collate "C" not null,
  created_at timestamptz not null default now(),
  head_version text collate "C",
  -- The transaction that made the tenant. A state that does not show it is not a state of this
  -- tenant: a token of a former tenant with the same id must not be good for this one.
  created_xid xid8 not null default pg_current_xact_id()
);

-- The number 1 says that this tenant was always there.
insert into tenants (id, name, created_xid) values ('t1', 'example tenant', '1');

-- Tenants whose rows are still to be removed.
create table removed_tenants (
  number bigint primary key
);

create table schemas (
  tenant bigint not null,
  version text collate "C" not null,
  text text collate "C" not null,
  created_at timestamptz not null default now(),
  primary key (tenant, version)
);

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

-- Every tuple has a subject. The condition keeps this index from statements that do not name one.
-- In an empty table both indexes cost the planner the same, and it could choose to read this one
-- from end to end.
create index relationships_by_subject on relationships
  (subject_id, subject_type, tenant, subject_relation, entity_type, relation, entity_id)
  where subject_id is not null;

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
-- Room for a new value on the page of the old one, so that overwriting touches no index.
with (
  fillfactor = 80,
  autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_vacuum_insert_scale_factor = 0.02,
  autovacuum_analyze_scale_factor = 0.05
);

create unique index attributes_by_entity on attributes
  (entity_id, attribute, entity_type, tenant);

-- Lookups ask for the entities of a type that have an attribute, by id. This index begins with the
-- tenant, written `tenant * 1`, and only the statements that are meant to use it write it so. While
-- the table is short, the planner could otherwise choose it for a single entity.
create index attributes_by_name on attributes
  ((tenant * 1), entity_type, attribute, entity_id)
  where tenant * 1 is not null;

-- The log of every create and delete: `relation` is set for a tuple, `attribute` for an attribute.
-- Only the functions of 0002 write here. There are no check constraints, since each statement would
-- prepare them anew.
create table changes (
  tenant bigint not null,
  xid xid8 not null,
  ordinal integer not null,
  -- `create` or `delete`.
  operation text collate "C" not null,
  entity_type text collate "C" not null,
  entity_id text collate "C" not null,
  relation text collate "C",
  subject_type text collate "C",
  subject_id text collate "C",
  subject_relation text collate "C",
  attribute text collate "C",
  value_type text collate "C",
  value jsonb,
  -- Of a delete: the transaction that created what it deleted. Of a create it is null.
  created_xid xid8,
  at timestamptz not null default now(),
  -- What the change of an attribute takes of a message: the value may be large, and is then stored
  -- apart from its row. The ids of a tuple say it themselves, so for a tuple this is null.
  bytes integer,
  primary key (tenant, xid, ordinal)
)
with (
  autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_vacuum_insert_scale_factor = 0.02
);

-- What a snapshot of the past still saw is found among the deletes. While the log is short, all of
-- its indexes cost the planner the same, and it may keep a plan that reads one from end to end. So
-- each index can only be used by the statements that are meant to use it: they write the tenant as
-- `tenant + 0`, since the primary key would fit otherwise. The index by subject holds the rows that
-- have a subject, not those that have a relation: otherwise it would fit a statement that names no
-- subject.
create index changes_deleted_tuples_by_entity on changes
  (entity_id, relation, entity_type, (tenant + 0), subject_type, subject_relation, subject_id)
  where operation = 'delete' and relation is not null;

create index changes_deleted_tuples_by_subject on changes
  (subject_id, subject_type, (tenant + 0), subject_relation, entity_type, relation, entity_id)
  where operation = 'delete' and subject_id is not null;

create index changes_deleted_attributes on changes
  (entity_id, attribute, entity_type, (tenant + 0))
  where operation = 'delete' and attribute is not null;

-- For lookups, as `attributes_by_name`.
create index changes_deleted_attributes_by_name on changes
  ((tenant * 1), entity_type, attribute, entity_id)
  where operation = 'delete' and attribute is not null and tenant * 1 is not null;

-- Which tenants changed since a state: one entry for each transaction of a tenant, since the
-- changes of a transaction count from 0.
create index changes_by_xid on changes (xid, tenant) where ordinal = 0;

create table bundles (
  tenant bigint not null,
  name text collate "C" not null,
  payload jsonb not null,
  created_at timestamptz not null default now(),
  primary key (tenant, name)
);

-- One row.
create table installation (
  only_row boolean primary key default true check (only_row),
  -- The cluster and the database whose transaction ids the rows carry.
  system_identifier text collate "C" not null,
  database_oid oid not null,
  -- The transaction id below which history is gone.
  horizon xid8 not null default '0',
  -- When history was last collected to the end.
  collected_at timestamptz,
  -- Authenticates tokens when the configuration gives no key: all instances find the same secret
  -- here. Drawn once, from the generator of the server that is meant for secrets.
  token_secret text collate "C" not null default gen_random_uuid()::text || gen_random_uuid()::text
);

-- The first transaction id of each timeline of the cluster on which Pemba wrote. After a failover,
-- or a recovery to a point in time, ids from there on have another meaning than before.
create table timelines (
  system_identifier text collate "C" not null,
  timeline integer not null,
  first_xid xid8 not null,
  primary key (system_identifier, timeline)
);

-- Readings of the oldest transaction that was running. A snapshot that is taken after a reading has
-- nothing older running. So what is older than the last reading before the window serves no token
-- of the window. The log alone does not tell: a transaction that ran for long, and perhaps logged
-- nothing, holds back every snapshot that is taken meanwhile.
create table horizons (
  system_identifier text collate "C" not null,
  database_oid oid not null,
  at timestamptz not null,
  oldest_xid xid8 not null,
  primary key (system_identifier, database_oid, at)
);

-- Down Migration

drop table
  tenants, removed_tenants, schemas, relationships, attributes, changes, bundles, installation,
  timelines, horizons;
