-- Fails with PB005 when rows of a mapped table give a tuple that cannot be: a part is no id, or an
-- entity is its own subject. Of attributes the columns of subjects are null.
create or replace function :"plans".refuse_unfit_rows(
  map text, entity_type text, entity_ids text[], relations text[], subject_types text[],
  subject_ids text[], subject_relations text[]
)
returns void
language plpgsql stable
set search_path to pg_catalog, pg_temp
as $$
declare
  unfit record;
  problem text;
begin
  select w.*
    into unfit
    from unnest(entity_ids, relations, subject_types, subject_ids, subject_relations)
      as w(entity_id, relation, subject_type, subject_id, subject_relation)
    where not (
        w.entity_id ~ '^[a-zA-Z0-9_@.:+-]+$' and octet_length(w.entity_id) <= 128
        or w.entity_id = '*'
      )
      or not (
        w.subject_id ~ '^[a-zA-Z0-9_@.:+-]+$' and octet_length(w.subject_id) <= 128
        or w.subject_id = '*'
      )
      or (w.subject_type, w.subject_id, w.subject_relation)
        = (refuse_unfit_rows.entity_type, w.entity_id, w.relation)
    limit 1;
  if not found then
    return;
  end if;
  problem := coalesce(
    'the id of the entity ' || :"plans".part_fault(unfit.entity_id, false),
    'the id of the subject '
      || case when unfit.subject_type is not null then :"plans".part_fault(unfit.subject_id, false) end,
    'an entity cannot be its own subject'
  );
  raise exception using
    errcode = 'PB005',
    message = format(
      'a row of %s has no permission data: %s',
      (select m.source from :"tables".maps as m where m.name = map), problem
    ),
    detail = format(
      'the map `%s` makes `%s:%s%s` of it', map, entity_type, left(unfit.entity_id, 200),
      case
        when unfit.subject_type is null then '$' || unfit.relation
        else '#' || unfit.relation || '@' || unfit.subject_type || ':' || left(unfit.subject_id, 200)
          || case unfit.subject_relation when '' then '' else '#' || unfit.subject_relation end
      end
    ),
    hint = 'correct the row; a column that is null makes no tuple';
end
$$
