-- What was changed of tenant number $1 by the transactions whose ids lie in one of the ranges from $2 up to before
-- $3 (ascending), behind the place ($4, $5): at most $6 changes, and $7 bytes unless one alone is larger. Returns
-- `changes`: how many; `xid` and `ordinal` of the last one; and json texts: of all keys that they name, as
-- the rows are now, `tuples` and `attributes` that are there, and `absent_tuples` and `touched_attributes`, which
-- have keys alone; `tally`: by label what the changes add to the number and the digests of rows. `horizon` is
-- that below which history is gone.
with logged as materialized (
  select *
  from (
    select changes.*, row_number() over by_place as position,
      sum(coalesce(changes.bytes, 100)) over by_place as bytes_so_far
    from unnest($2::text[]::xid8[], $3::text[]::xid8[]) as ranges (first_xid, end_xid)
    cross join lateral (
      select logged.*
      from changes as logged
      where logged.tenant = $1::bigint
        and logged.xid >= ranges.first_xid and logged.xid < ranges.end_xid
        and (logged.xid, logged.ordinal) > ($4::text::xid8, $5::integer)
      order by logged.xid, logged.ordinal
      limit $6::integer
    ) as changes
    window by_place as (order by changes.xid, changes.ordinal)
    order by changes.xid, changes.ordinal
    limit $6::integer
  ) as found
  where position = 1 or bytes_so_far <= $7::integer
),
tuples as materialized (
  select keys.*, exists (
    select from relationships as stored
    where stored.entity_id = keys.entity_id
      and stored.relation = keys.relation
      and stored.entity_type = keys.entity_type
      and stored.tenant = $1::bigint
      and stored.subject_type = keys.subject_type
      and stored.subject_relation = keys.subject_relation
      and stored.subject_id = keys.subject_id
  ) as is_there
  from (
    select distinct entity_type, entity_id, relation, subject_type, subject_id, subject_relation
    from logged
    where relation is not null
  ) as keys
),
touched as (
  select distinct entity_type, entity_id, attribute from logged where attribute is not null
),
tallied as (
  select label, sum(sign) as count, sum(sign * digest) as sum
  from (
    select entity_type || coalesce('#' || relation, '$' || attribute) as label,
      case operation when 'create' then 1 else -1 end as sign,
      case
        when relation is not null then
          tuple_digest(entity_type, entity_id, relation, subject_type, subject_id, subject_relation)
        else attribute_digest(entity_type, entity_id, attribute, value_type, value)
      end as digest
    from logged
  ) as one
  group by label
)
select (select count(*)::integer from logged) as changes, last.xid::text, last.ordinal,
  (
    select coalesce(json_agg(json_build_array(
      entity_type, entity_id, relation, subject_type, subject_id, subject_relation
    )), '[]')::text
    from tuples where is_there
  ) as tuples,
  (
    select coalesce(json_agg(json_build_array(
      entity_type, entity_id, relation, subject_type, subject_id, subject_relation
    )), '[]')::text
    from tuples where not is_there
  ) as absent_tuples,
  (
    select coalesce(json_agg(json_build_array(
      stored.entity_type, stored.entity_id, stored.attribute, stored.value_type, stored.value
    )), '[]')::text
    from touched
    join attributes as stored
      on stored.entity_id = touched.entity_id
      and stored.attribute = touched.attribute
      and stored.entity_type = touched.entity_type
      and stored.tenant = $1::bigint
  ) as attributes,
  (
    select coalesce(json_agg(json_build_array(entity_type, entity_id, attribute)), '[]')::text
    from touched
  ) as touched_attributes,
  (
    select coalesce(json_agg(json_build_array(label, count, sum::text)), '[]')::text from tallied
  ) as tally,
  installation.horizon::text
from installation
left join (
  select xid, ordinal from logged order by xid desc, ordinal desc limit 1
) as last on true
