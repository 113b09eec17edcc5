-- What others put there stays, and the schema with it.
do $$
begin
  if not exists (
    select from pg_catalog.pg_depend
    where refclassid = 'pg_catalog.pg_namespace'::regclass
      and refobjid = to_regnamespace(quote_ident(:'entry'))
  ) then
    drop schema if exists :"entry";
  end if;
end
$$
