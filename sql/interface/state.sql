-- Returns one row about the database: `tables`, the schema of Pemba's tables; `role`, which asks;
-- `is_installed`, whether the interface of the plan schema $2 is there; `is_taken`, whether the entry
-- schema $1 has objects although the interface is not there; `may_create`, whether the role may make
-- plan functions; `is_open`, whether every role may make objects in the schema of the tables.
select
  place.schema::text as tables,
  current_user::text as role,
  installed.oid is not null as is_installed,
  installed.oid is null and (
    exists (select from pg_catalog.pg_proc where pronamespace = entry.oid)
    or exists (select from pg_catalog.pg_class where relnamespace = entry.oid)
  ) as is_taken,
  coalesce(has_schema_privilege(plans.oid, 'create'), false) as may_create,
  exists (
    select
    from aclexplode(place.rights) as granted
    where granted.grantee = 0 and granted.privilege_type = 'CREATE'
  ) as is_open
from (
  select names.nspname as schema, names.nspacl as rights
  from pg_catalog.pg_class as tenants
  join pg_catalog.pg_namespace as names on names.oid = tenants.relnamespace
  where tenants.oid = to_regclass('tenants')
) as place
left join pg_catalog.pg_namespace as entry on entry.nspname = $1::text
left join pg_catalog.pg_namespace as plans on plans.nspname = $2::text
left join pg_catalog.pg_class as installed
  on installed.relnamespace = plans.oid and installed.relname = 'installation'
