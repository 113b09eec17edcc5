-- What a policy needs to know of the table that $1 names as SQL does, and of its column $2. Returns one
-- row, or none when there is no such table: `schema`, `name`, `kind` as in `pg_class`, `type`, which is
-- that below a domain and null when there is no such column, and `is_exact`, whether texts of the column
-- are equal only if they are the same.
with recursive types as (
  select a.attcollation as collation, t.oid, t.typtype, t.typbasetype
  from pg_catalog.pg_attribute as a
  join pg_catalog.pg_type as t on t.oid = a.atttypid
  where a.attrelid = to_regclass($1::text)
    and a.attname = $2::text and a.attnum > 0 and not a.attisdropped
  union all
  select d.collation, t.oid, t.typtype, t.typbasetype
  from types as d
  join pg_catalog.pg_type as t on t.oid = d.typbasetype
  where d.typtype = 'd'
)
select n.nspname::text as schema, c.relname::text as name, c.relkind::text as kind,
  b.type, coalesce(b.is_exact, true) as is_exact
from pg_catalog.pg_class as c
join pg_catalog.pg_namespace as n on n.oid = c.relnamespace
left join lateral (
  select format_type(t.oid, null) as type, l.collisdeterministic as is_exact
  from types as t
  left join pg_catalog.pg_collation as l on l.oid = t.collation
  where t.typtype <> 'd'
) as b on true
where c.oid = to_regclass($1::text)
