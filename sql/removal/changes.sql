-- Removes at most $5 logged changes of the tenants $1 (ascending), those that come after the place
-- $2, $3, $4 (tenant, xid, ordinal) in the order of the log. Returns one row: `is_last`, whether
-- nothing is left; `tenant`, `xid` and `ordinal` of the last one.
with picked as materialized (
  select spots.*
  from unnest($1::bigint[]) as numbers (number)
  cross join lateral (
    select changes.ctid as spot, changes.tenant, changes.xid, changes.ordinal
    from changes
    where changes.tenant = numbers.number
      -- Past what the batches before have removed: the index still has it until a vacuum.
      and (changes.tenant, changes.xid, changes.ordinal) > ($2::bigint, $3::text::xid8, $4::integer)
    order by changes.xid, changes.ordinal
    limit $5::integer
  ) as spots
  limit $5::integer
),
removed as (
  delete from changes where ctid = any(array(select spot from picked))
)
select counts.picked < $5::integer as is_last, last.tenant::text, last.xid::text, last.ordinal
from (select count(*) as picked from picked) as counts
left join (
  select tenant, xid, ordinal from picked order by tenant desc, xid desc, ordinal desc limit 1
) as last on true
