-- Returns one row about the schema of Pemba's tables: `schema`, its name; `exists`, whether the table $1
-- stands there; `role`, which asks; `may_migrate`, whether that role may make tables there and change the
-- table $1. The schema is the first one of the connection's path that has the table $1. Without such a
-- table it is the first one at all, and null when there is none. A schema with the name of the role comes
-- into the default path when it is made, so the first one may be of others, or the one of the SQL interface.
-- Such a role may have made functions in it, so each name has its schema.
select
  place.schema,
  place.tableowner is not null as exists,
  current_user::text as role,
  coalesce(pg_catalog.has_schema_privilege(place.schema, 'create'), false)
    and coalesce(pg_catalog.pg_has_role(place.tableowner, 'usage'), true) as may_migrate
from (select) as asked
left join lateral (
  select path.schema, known.tableowner
  from pg_catalog.unnest(pg_catalog.current_schemas(false)) with ordinality as path(schema, ordinal)
  left join pg_catalog.pg_tables as known
    on known.schemaname operator(pg_catalog.=) path.schema
      and known.tablename operator(pg_catalog.=) $1::text
  order by known.tablename is null, path.ordinal
  limit 1
) as place on true
