-- Returns what the route to the server does to a connection, as one row: `backend`, the process that
-- runs this statement; `names`, under which the server knows it as a prepared one; `settings`, the
-- values of those named in $1; `version` and `version_number` of the server; `path`, the search path that
-- has only the schema of Pemba's tables, null while no schema of the path has them; `schemas`, those of the
-- path, that of the tables first. The path may lead to what other roles have made, so each name has its schema.
select pg_catalog.pg_backend_pid() as backend,
  (
    select coalesce(pg_catalog.json_agg(known.name), '[]')
    from pg_catalog.pg_prepared_statements as known
    where known.statement operator(pg_catalog.~~) '%the way to the server%'
  ) as names,
  (
    select pg_catalog.json_object_agg(wanted.name, pg_catalog.current_setting(wanted.name))
    from pg_catalog.unnest($1::text[]) as wanted (name)
  ) as settings,
  pg_catalog.current_setting('server_version') as version,
  pg_catalog.current_setting('server_version_num')::integer as version_number,
  pg_catalog.quote_ident(found.tables) as path,
  pg_catalog.to_json(
    pg_catalog.array_remove(
      pg_catalog.array_prepend(found.tables, pg_catalog.array_remove(found.path, found.tables)), null
    )
  ) as schemas
from (
  select of_session.path::text[] as path,
    (
      select known.schemaname::text
      from pg_catalog.unnest(of_session.path) with ordinality as path (schema, ordinal)
      join pg_catalog.pg_tables as known on known.schemaname operator(pg_catalog.=) path.schema
      where known.tablename operator(pg_catalog.=) $2::text
      order by path.ordinal
      limit 1
    ) as tables
  from (select pg_catalog.current_schemas(false)) as of_session (path)
) as found
