-- The first part of a tuple that is no name or id: its field and the problem. Nulls when there is none.
create or replace function :"plans".tuple_part_fault(
  entity_type text, entity_id text, relation text, subject_type text, subject_id text,
  subject_relation text, out field text, out problem text
)
language plpgsql immutable
set search_path to pg_catalog, pg_temp
as $$
begin
  select f.field, f.problem
    into field, problem
    from (
      values
        ('entity.type', :"plans".part_fault(entity_type, true)),
        ('entity.id', :"plans".part_fault(entity_id, false)),
        ('relation', :"plans".part_fault(relation, true)),
        ('subject.type', :"plans".part_fault(subject_type, true)),
        ('subject.id', :"plans".part_fault(subject_id, false)),
        (
          'subject.relation',
          case when subject_relation <> '' then :"plans".part_fault(subject_relation, true) end
        )
    ) as f(field, problem)
    where f.problem is not null
    limit 1;
end
$$
