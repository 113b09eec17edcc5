-- Puts rows into the tenant number $1, which the process $2 moves here: tuples ($3) and attributes ($4), json
-- arrays of arrays. Rows whose key is there stay. Returns `is_mine` and, as json text, the `tally` of
-- what was inserted.
with mine as materialized (
  select number from arrivals where number = $1::bigint and mover = $2::uuid for share
),
tuples as (
  insert into relationships (
    tenant, entity_type, entity_id, relation, subject_type, subject_id, subject_relation, created_xid
  )
  -- The rows count as always visible: no state of the tenant is older than the tenant here.
  select mine.number, item ->> 0, item ->> 1, item ->> 2, item ->> 3, item ->> 4, item ->> 5, '1'
  from mine, json_array_elements($3::text::json) as given (item)
  on conflict do nothing
  returning entity_type, entity_id, relation, subject_type, subject_id, subject_relation
),
values_there as (
  insert into attributes (
    tenant, entity_type, entity_id, attribute, value_type, value, created_xid
  )
  select mine.number, item ->> 0, item ->> 1, item ->> 2, item ->> 3, (item -> 4)::text::jsonb, '1'
  from mine, json_array_elements($4::text::json) as given (item)
  on conflict do nothing
  returning entity_type, entity_id, attribute, value_type, value
)
select exists (select from mine) as is_mine,
  (
    select coalesce(json_agg(json_build_array(label, count, sum::text)), '[]')::text
    from (
      select entity_type || '#' || relation as label, count(*),
        sum(tuple_digest(
          entity_type, entity_id, relation, subject_type, subject_id, subject_relation
        )) as sum
      from tuples
      group by entity_type, relation
      union all
      select entity_type || '$' || attribute, count(*),
        sum(attribute_digest(entity_type, entity_id, attribute, value_type, value))
      from values_there
      group by entity_type, attribute
    ) as labels
  ) as tally
