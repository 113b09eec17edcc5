-- The parts of tuples in text notation, one list for each column. The entity type is null where a text
-- has not the form of a tuple. `are_readable`: all parts are names and ids.
create or replace function :"plans".read_tuples(
  tuples text[], out entity_types text[], out entity_ids text[], out relations text[],
  out subject_types text[], out subject_ids text[], out subject_relations text[],
  out are_readable boolean
)
language plpgsql stable
set search_path to pg_catalog, pg_temp
as $$
begin
  if tuples is null then
    raise exception using
      errcode = 'null_value_not_allowed',
      message = 'the argument `tuples` is null';
  end if;
  if cardinality(tuples) > 10000 then
    raise exception using
      errcode = 'program_limit_exceeded',
      message = format('`tuples` has %s elements, expected at most 10000', cardinality(tuples));
  end if;
  -- From the left by the separators: ids may have `:` and `@`.
  select array_agg(case when t.is_tuple then e.type end), array_agg(e.id), array_agg(r.relation),
      array_agg(s.type), array_agg(i.id),
      array_agg(u.relation),
      coalesce(bool_and(coalesce(
        t.is_tuple
        and e.type ~ '^[a-zA-Z_]+$' and octet_length(e.type) <= 64
        and (e.id ~ '^[a-zA-Z0-9_@.:+-]+$' and octet_length(e.id) <= 128 or e.id = '*')
        and r.relation ~ '^[a-zA-Z_]+$' and octet_length(r.relation) <= 64
        and s.type ~ '^[a-zA-Z_]+$' and octet_length(s.type) <= 64
        and (i.id ~ '^[a-zA-Z0-9_@.:+-]+$' and octet_length(i.id) <= 128 or i.id = '*')
        and u.relation ~ '^[a-zA-Z_]*$' and octet_length(u.relation) <= 64,
        false
      )), true)
    into entity_types, entity_ids, relations, subject_types, subject_ids, subject_relations,
      are_readable
    from unnest(tuples) as given(spelled)
    cross join lateral (
      select btrim(given.spelled, E' \t\r\n') as whole,
        given.spelled ~ '^[^:]*:[^#$]*#[^@]*@[^:]*:' as is_tuple
      offset 0
    ) as t
    cross join lateral (
      select split_part(t.whole, '#', 1) as entity, substr(t.whole, strpos(t.whole, '#') + 1) as rest
      offset 0
    ) as p
    cross join lateral (
      select split_part(p.entity, ':', 1) as type,
        substr(p.entity, strpos(p.entity, ':') + 1) as id
    ) as e
    cross join lateral (
      select split_part(p.rest, '@', 1) as relation,
        substr(p.rest, strpos(p.rest, '@') + 1) as subject
      offset 0
    ) as r
    cross join lateral (
      select split_part(r.subject, ':', 1) as type,
        substr(r.subject, strpos(r.subject, ':') + 1) as rest
      offset 0
    ) as s
    cross join lateral (
      select split_part(s.rest, '#', 1) as id,
        case when strpos(s.rest, '#') = 0 then '' else substr(s.rest, strpos(s.rest, '#') + 1) end
          as relation
      offset 0
    ) as i
    cross join lateral (
      select case i.relation when '...' then '' else i.relation end as relation
    ) as u;
end
$$
