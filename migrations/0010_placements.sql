-- Up Migration

-- On which cluster each tenant is, if the configuration names several (docs/decisions/0021-placement.md).
-- Every database has the table. It is used in that of the directory alone, and is empty in all others.
create table placements (
  tenant text collate "C" primary key,
  -- The name of the cluster in the configuration.
  cluster text collate "C" not null,
  -- `creating` until the cluster has the tenant, then `placed`, `deleting` until the cluster has removed it.
  state text collate "C" not null,
  -- Another one after each change, so that a change can be made only if no other came before it.
  version uuid not null default gen_random_uuid(),
  changed_at timestamptz not null default now(),
  -- As its cluster has them. Tenants are listed while their clusters are down.
  name text collate "C" not null,
  created_at timestamptz not null default now()
);

-- For the few rows that a crash left between two states.
create index placements_unsettled on placements (changed_at) where state <> 'placed';

-- Which directory this database belongs to, if any. Its id is made once, so a wrong configuration cannot
-- take another database for the one with the placements.
create table directory (
  only_row boolean primary key default true check (only_row),
  id uuid not null default gen_random_uuid(),
  -- The name of the cluster of this database. Placements have it, so it never changes.
  cluster text collate "C" not null,
  -- Whether the placements are here. If not, this is the database of another cluster.
  is_here boolean not null
);
