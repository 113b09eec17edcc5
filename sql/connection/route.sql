-- Returns what the route to the server does to a connection, as one row: `backend`, the process that
-- runs this statement; `names`, under which the server knows it as a prepared one; `settings`, the
-- values of those named in $1; `version` and `version_number` of the server; `path`, the search path with
-- the schema of Pemba's tables before all others, null while no schema of the path has them.
select pg_backend_pid() as backend,
  (
    select coalesce(json_agg(known.name), '[]')
    from pg_prepared_statements as known
    where known.statement like '%the way to the server%'
  ) as names,
  (
    select json_object_agg(wanted.name, current_setting(wanted.name))
    from unnest($1::text[]) as wanted (name)
  ) as settings,
  current_setting('server_version') as version,
  current_setting('server_version_num')::integer as version_number,
  (
    select concat_ws(', ', quote_ident(path.schema), current_setting('search_path'))
    from unnest(current_schemas(false)) with ordinality as path (schema, ordinal)
    join pg_catalog.pg_tables as known on known.schemaname = path.schema
    where known.tablename = $2::text
    order by path.ordinal
    limit 1
  ) as path
