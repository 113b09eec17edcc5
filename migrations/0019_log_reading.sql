-- Up Migration

-- Which tenants changed since a state: one entry for each transaction of a tenant, since its changes
-- count from 0.
create index changes_by_xid on changes (xid, tenant) where ordinal = 0;

-- What a change takes of a message. The large values stand apart from their rows: whoever chooses what
-- fits a message reads the sizes, and of the values only those that are sent.
alter table changes add column bytes integer not null generated always as (
  octet_length(entity_id) + coalesce(octet_length(subject_id), 0)
    + coalesce(octet_length(value::text), 0)
) stored;

-- Down Migration

alter table changes drop column bytes;
drop index changes_by_xid;
