-- Up Migration

-- Lookups ask for the entities of a type that have an attribute, by id. These indexes begin with the
-- tenant, written `tenant * 1` as only those write it who are meant to use them: else, while a table
-- is short, the planner could keep one of them for a single entity.
create index attributes_by_name on attributes
  ((tenant * 1), entity_type, attribute, entity_id)
  where tenant * 1 is not null;

create index changes_deleted_attributes_by_name on changes
  ((tenant * 1), entity_type, attribute, entity_id)
  where operation = 'delete' and attribute is not null and tenant * 1 is not null;

-- Down Migration

drop index changes_deleted_attributes_by_name;
drop index attributes_by_name;
