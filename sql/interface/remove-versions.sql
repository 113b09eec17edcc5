-- Removes what can be asked under at most $2 schema versions that are no heads, and were none in the
-- last $1 milliseconds: a transaction that is open since then may still see one. A tenant that is hidden for a
-- move may come back with its head. Returns one row: `removed`, how many versions.
with expired as materialized (
  select v.tenant, v.version
  from :"plans".versions as v
  where not exists (
    select from :"tables".tenants as t where t.number = v.tenant and t.head_version = v.version
  )
  and not exists (
    select from :"tables".departures as d
    where d.number = v.tenant and d.hidden ->> 'head_version' = v.version
  )
  and not exists (
    select
    from :"tables".schemas as s
    where s.tenant = v.tenant
      and s.version > v.version
    having min(s.created_at) > clock_timestamp() - make_interval(secs => $1::double precision / 1000)
  )
  limit $2::integer
),
questions as (
  delete from :"plans".questions as q
  using expired as e
  where q.tenant = e.tenant and q.version = e.version
),
names as (
  delete from :"plans".names as n
  using expired as e
  where n.tenant = e.tenant and n.version = e.version
),
versions as (
  delete from :"plans".versions as v
  using expired as e
  where v.tenant = e.tenant and v.version = e.version
)
select count(*)::integer as removed from expired
