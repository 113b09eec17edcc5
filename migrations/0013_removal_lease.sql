-- Up Migration

-- One process at a time removes the rows of deleted tenants: which one that is, and when it was seen last. Another one
-- goes on if the process is gone.
alter table removed_tenants add column remover uuid, add column seen_at timestamptz;
