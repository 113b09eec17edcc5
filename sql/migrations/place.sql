-- Returns one row: `schema`, in which the connection makes its tables (null when it has none), and
-- `exists`, whether the table $1 stands there.
select current_schema() as schema,
  exists (
    select from pg_catalog.pg_tables where schemaname = current_schema() and tablename = $1::text
  ) as exists
