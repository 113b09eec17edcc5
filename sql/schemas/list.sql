-- Returns `head`, `version` and `created_at` of at most $3 versions of tenant $1, those below $2
-- (all when that is null), newest first. When there is none, but the tenant exists, one row with a
-- null `version`.
select tenants.head_version as head, page.version, page.created_at
from tenants
left join lateral (
  select version, created_at
  from schemas
  where schemas.tenant = tenants.number
    and schemas.version < coalesce($2::text, '~')
  order by version desc
  limit $3::integer
) as page on true
where tenants.id = $1::text
order by page.version desc
