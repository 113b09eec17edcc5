-- Returns one row about the database: `tables`, the schema of Pemba's tables; `role`, which asks;
-- `is_installed`, whether the interface of the plan schema $2 is there; `taken_schema`, the one of the
-- entry schema $1 and the plan schema that has objects although the interface is not there, and was not
-- there before;
-- `foreign_schema`, the one of them that belongs to a role that is neither this one nor has the rights
-- of the owner of the tables; `may_create`, whether the role may make plan functions.
select
  place.schema::text as tables,
  current_user::text as role,
  installed.oid is not null as is_installed,
  (
    select names.nspname::text
    from pg_catalog.pg_namespace as names
    where installed.oid is null
      and names.oid in (entry.oid, plans.oid)
      and obj_description(names.oid, 'pg_namespace') is distinct from 'SQL interface of Pemba'
      and (
        exists (select from pg_catalog.pg_proc where pronamespace = names.oid)
        or exists (select from pg_catalog.pg_class where relnamespace = names.oid)
      )
    limit 1
  ) as taken_schema,
  (
    select names.nspname::text
    from pg_catalog.pg_namespace as names
    where names.oid in (entry.oid, plans.oid)
      and pg_get_userbyid(names.nspowner) <> current_user
      and not pg_has_role(names.nspowner, place.owner, 'usage')
    limit 1
  ) as foreign_schema,
  coalesce(has_schema_privilege(plans.oid, 'create'), false) as may_create
from (
  select names.nspname as schema, tenants.relowner as owner
  from pg_catalog.pg_class as tenants
  join pg_catalog.pg_namespace as names on names.oid = tenants.relnamespace
  where tenants.oid = to_regclass('tenants')
) as place
left join pg_catalog.pg_namespace as entry on entry.nspname = $1::text
left join pg_catalog.pg_namespace as plans on plans.nspname = $2::text
left join pg_catalog.pg_class as installed
  on installed.relnamespace = plans.oid and installed.relname = 'installation'
