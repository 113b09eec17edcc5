-- Removes rows of the tenant number $1, which the process $2 moves here: tuples ($3) and attributes ($4) with these
-- keys, json arrays of arrays. Returns `is_mine` and, as json text, the `tally` of what was removed.
with mine as materialized (
  select number from arrivals where number = $1::bigint and mover = $2::uuid for share
),
tuples as (
  delete from relationships as stored
  using mine, json_array_elements($3::text::json) as given (item)
  where stored.entity_id = item ->> 1
    and stored.relation = item ->> 2
    and stored.entity_type = item ->> 0
    and stored.tenant = mine.number
    and stored.subject_type = item ->> 3
    and stored.subject_relation = item ->> 5
    and stored.subject_id = item ->> 4
  returning stored.*
),
values_gone as (
  delete from attributes as stored
  using mine, json_array_elements($4::text::json) as given (item)
  where stored.entity_id = item ->> 1
    and stored.attribute = item ->> 2
    and stored.entity_type = item ->> 0
    and stored.tenant = mine.number
  returning stored.*
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
      from values_gone
      group by entity_type, attribute
    ) as labels
  ) as tally
