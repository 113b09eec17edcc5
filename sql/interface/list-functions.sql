-- The functions of the schema $1 with the name $2. Returns for each: `arguments`, as its drop takes them;
-- `is_list`, whether it returns rows of the table that $3 names as SQL does; and `is_same`, whether its
-- types are those of the function that $4 names with its types, and its parameters have the names $5.
select pg_get_function_identity_arguments(p.oid) as arguments,
  coalesce(p.prorettype = c.reltype, false) as is_list,
  p.oid = to_regprocedure($4::text) and p.proargnames = $5::text[] as is_same
from pg_catalog.pg_proc as p
join pg_catalog.pg_namespace as n on n.oid = p.pronamespace
left join pg_catalog.pg_class as c on c.oid = to_regclass($3::text)
where n.nspname = $1::text and p.proname = $2::text
