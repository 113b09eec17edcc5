-- Returns the changes of tenant number $1 whose transaction id lies in one of the ranges from $2 up
-- to before $3 (ascending), in the order of ids and ordinals, behind the place ($4, $5). At most $6
-- changes, $7 bytes and $8 transactions, but one change at least. `next_xid` is the id of the change
-- that follows in the ranges, if any does; `horizon` that below which history is gone; `timeline` and
-- `place` (the cluster and database) say which server this is. When there is nothing, one row without
-- a change; no row: the tenant is gone.
select installation.horizon::text, server.timeline, server.place, page.xid::text, page.ordinal,
  change.operation, change.entity_type, change.entity_id, change.relation, change.subject_type,
  change.subject_id, change.subject_relation, change.attribute, change.value_type, change.value,
  page.next_xid::text
from tenants
cross join installation
cross join (
  select current_timeline() as timeline, control.system_identifier::text || '/' || here.oid as place
  from pg_control_system() as control
  join pg_database as here on here.datname = current_database()
  offset 0
) as server
left join (
  select found.*, lead(found.xid) over by_place as next_xid, row_number() over by_place as position,
    sum(found.bytes) over by_place as bytes_so_far,
    dense_rank() over (order by found.xid) as transactions
  from (
    select logged.*
    from unnest($2::xid8[], $3::xid8[]) as ranges (first_xid, end_xid)
    cross join lateral (
      select changes.xid, changes.ordinal,
        coalesce(changes.bytes, octet_length(changes.entity_id) + octet_length(changes.subject_id))
          as bytes
      from changes
      where changes.tenant = $1::bigint
        and changes.xid >= ranges.first_xid and changes.xid < ranges.end_xid
        and (changes.xid, changes.ordinal) > ($4::xid8, $5::integer)
      order by changes.xid, changes.ordinal
      limit $6::integer + 1
    ) as logged
    order by logged.xid, logged.ordinal
    limit $6::integer + 1
  ) as found
  window by_place as (order by found.xid, found.ordinal)
) as page on page.position = 1
  or (page.position <= $6::integer and page.bytes_so_far <= $7::integer
    and page.transactions <= $8::integer)
-- The values only of what is returned: they may be large.
left join changes as change
  on change.tenant = $1::bigint and change.xid = page.xid and change.ordinal = page.ordinal
where tenants.number = $1::bigint
order by page.xid, page.ordinal
