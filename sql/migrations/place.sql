-- Returns one row about the schema in which the connection makes its tables: `schema`, its name, null
-- when there is none; `exists`, whether the table $1 stands there; `role`, which asks; `may_migrate`,
-- whether that role may make tables there and change the table $1.
select
  current_schema() as schema,
  known.tablename is not null as exists,
  current_user::text as role,
  coalesce(has_schema_privilege(current_schema(), 'create'), false)
    and coalesce(pg_has_role(known.tableowner, 'usage'), true) as may_migrate
from (select) as asked
left join pg_catalog.pg_tables as known
  on known.schemaname = current_schema() and known.tablename = $1::text
