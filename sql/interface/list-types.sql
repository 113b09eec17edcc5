-- The types of the parameters of a prepared statement.
select array_to_json(parameter_types)::text as types
from pg_catalog.pg_prepared_statements
where name = $1
