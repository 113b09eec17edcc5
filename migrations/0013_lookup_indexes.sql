-- Up Migration

-- Lookups ask for all entities of a type, by id: those with an attribute, or all that are known.
-- These indexes begin with the tenant, written `tenant * 1` or `tenant / 1`, as only those write it
-- who are meant to use them: else, while a table is short, the planner could keep one of them for a
-- single entity.
create index attributes_by_name on attributes
  ((tenant * 1), entity_type, attribute, entity_id)
  where tenant * 1 is not null;

create index attributes_by_entity_type on attributes
  ((tenant / 1), entity_type, entity_id)
  where tenant / 1 is not null;

create index relationships_by_entity_type on relationships
  ((tenant * 1), entity_type, entity_id)
  where tenant * 1 is not null;

create index relationships_by_subject_type on relationships
  ((tenant * 1), subject_type, subject_id)
  where tenant * 1 is not null;

create index changes_deleted_attributes_by_name on changes
  ((tenant * 1), entity_type, attribute, entity_id)
  where operation = 'delete' and attribute is not null and tenant * 1 is not null;

create index changes_deleted_attributes_by_entity_type on changes
  ((tenant / 1), entity_type, entity_id)
  where operation = 'delete' and attribute is not null and tenant / 1 is not null;

create index changes_deleted_tuples_by_entity_type on changes
  ((tenant * 1), entity_type, entity_id)
  where operation = 'delete' and relation is not null and tenant * 1 is not null;

create index changes_deleted_tuples_by_subject_type on changes
  ((tenant * 1), subject_type, subject_id)
  where operation = 'delete' and subject_id is not null and tenant * 1 is not null;

-- Down Migration

drop index changes_deleted_tuples_by_subject_type;
drop index changes_deleted_tuples_by_entity_type;
drop index changes_deleted_attributes_by_entity_type;
drop index changes_deleted_attributes_by_name;
drop index relationships_by_subject_type;
drop index relationships_by_entity_type;
drop index attributes_by_entity_type;
drop index attributes_by_name;
