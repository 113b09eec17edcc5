-- Returns one row when tenant $1 exists: `version`, `text` and `created_at` of version $2, or of the
-- head when $2 is null; they are null when there is no such version.
select schemas.version, schemas.text, schemas.created_at
from tenants
left join schemas
  on schemas.tenant = tenants.number
  and schemas.version = coalesce($2::text, tenants.head_version)
where tenants.id = $1::text
