-- The parameters of the prepared statement $1, in their order: `type`, with its schema if it is none of
-- Postgres's own, and `is_collatable`.
select
  case
    when n.nspname = 'pg_catalog' then format_type(t.oid, -1)
    else format('%I.%I', n.nspname, t.typname)
  end as type,
  t.typcollation <> 0 as is_collatable
from pg_catalog.pg_prepared_statements as p
cross join unnest(p.parameter_types) with ordinality as u(type, place)
join pg_catalog.pg_type as t on t.oid = u.type
join pg_catalog.pg_namespace as n on n.oid = t.typnamespace
where p.name = $1::text
order by u.place
