-- Removes at most $4 logged changes below the horizon, those that come after the place $1, $2, $3
-- (tenant, xid, ordinal) in the order of the log. Returns one row: `is_alone`, false when another
-- collector is at work and nothing was done; `is_last`, whether nothing is left; `removed`, how many
-- went; `tenant`, `xid` and `ordinal` of the last one.
with recursive turn as materialized (
  select pg_try_advisory_xact_lock(lock_key(0, 1)) as is_alone
),
-- From one tenant to the next through the index, which has no order by age alone.
owners as (
  (
    select changes.tenant from turn, changes
    where turn.is_alone and changes.tenant >= $1::bigint
    order by changes.tenant
    limit 1
  )
  union all
  select (
    select changes.tenant from changes
    where changes.tenant > owners.tenant
    order by changes.tenant
    limit 1
  )
  from owners
  where owners.tenant is not null
),
expired as materialized (
  select spots.*
  from owners
  cross join lateral (
    select changes.ctid as spot, changes.tenant, changes.xid, changes.ordinal
    from changes
    where changes.tenant = owners.tenant
      and changes.xid < (select horizon from installation)
      -- Past what the batches before have removed: the index still has it until a vacuum.
      and (changes.tenant, changes.xid, changes.ordinal) > ($1::bigint, $2::text::xid8, $3::integer)
    order by changes.xid, changes.ordinal
    limit $4::integer
  ) as spots
  limit $4::integer
),
removed as (
  delete from changes
  where ctid = any(array(select spot from expired))
  returning 1
)
select turn.is_alone,
  (select count(*) from expired) < $4::integer as is_last,
  (select count(*)::integer from removed) as removed,
  last.tenant::text, last.xid::text, last.ordinal
from turn
left join (
  select tenant, xid, ordinal from expired order by tenant desc, xid desc, ordinal desc limit 1
) as last on true
