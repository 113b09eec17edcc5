-- Returns `schema`, one of the search path, `has_tables`, whether it is that of Pemba's tables, and `maker`, for each
-- role that may make objects there and has not the rights of the owner of the tables; null stands for every role.
-- What such a role makes may be found in place of what Postgres has. A superuser, and the role that asks, are none
-- of them. Behind a pooler the path may have more than the schema of the tables.
select names.nspname::text as schema, names.oid = tenants.relnamespace as has_tables,
  made.maker::regrole::text as maker
from pg_catalog.pg_class as tenants
join pg_catalog.pg_namespace as names on names.nspname = any(current_schemas(false))
join pg_catalog.pg_database as here on here.datname = current_database()
cross join lateral (
  select nullif(
      case given.role when 'pg_database_owner'::regrole then here.datdba else given.role end, 0
    ) as maker
  from (
    select names.nspowner as role
    union
    select granted.grantee
    from aclexplode(names.nspacl) as granted
    where granted.privilege_type = 'CREATE'
  ) as given
) as made
where tenants.oid = to_regclass('tenants')
  and (
    made.maker is null
    or made.maker <> current_user::regrole
      and not pg_has_role(made.maker, tenants.relowner, 'usage')
  )
order by names.oid <> tenants.relnamespace, names.nspname, made.maker is not null, maker
