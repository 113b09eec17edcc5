-- Returns at most $3 heads of tenants with a number above $1, in the order of numbers: `number`, `id`,
-- `version` and `text`. Without those that have the fingerprint $2; null: none are left out. Only of the
-- tenants with the ids $4; null: of all.
select t.number::text, t.id, s.version, s.text
from :"tables".tenants as t
join :"tables".schemas as s on s.tenant = t.number and s.version = t.head_version
where t.number > $1::bigint
  and ($4::text[] is null or t.id = any($4::text[]))
  and not exists (
    select
    from :"plans".versions as v
    where v.tenant = t.number and v.version = t.head_version and v.fingerprint = $2::text
  )
order by t.number
limit $3::integer
