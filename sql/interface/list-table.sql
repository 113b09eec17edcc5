-- What a list needs to know of a table: $1 is its name as SQL spells it, $2 that of a column, $3 and $4
-- the schema and the name of the function.
with recursive bases as (
  select a.attnum, a.attname, a.attnotnull, t.oid, t.typtype, t.typbasetype, t.typnamespace
  from pg_catalog.pg_attribute as a
  join pg_catalog.pg_type as t on t.oid = a.atttypid
  where a.attrelid = to_regclass($1) and a.attnum > 0 and not a.attisdropped
  union all
  select b.attnum, b.attname, b.attnotnull, t.oid, t.typtype, t.typbasetype, t.typnamespace
  from bases as b
  join pg_catalog.pg_type as t on t.oid = b.typbasetype
  where b.typtype = 'd'
)
select n.nspname as schema, c.relname as name, c.relkind::text as kind,
  (
    select coalesce(json_agg(
      json_build_object(
        'name', b.attname,
        'type', format_type(b.oid, null),
        'is_nullable', not b.attnotnull,
        'is_builtin', b.typtype = 'e' or b.typnamespace = 'pg_catalog'::regnamespace
      )
    ), '[]')
    from bases as b
    where b.typtype <> 'd'
  ) as columns,
  coalesce(bool_or(i.is_first), false) as is_indexed,
  coalesce(bool_or(i.is_unique), false) as is_unique,
  (
    select coalesce(json_agg(
      json_build_object(
        'arguments', pg_get_function_identity_arguments(p.oid),
        'is_list', p.prorettype = c.reltype
      )
    ), '[]')
    from pg_catalog.pg_proc as p
    join pg_catalog.pg_namespace as e on e.oid = p.pronamespace
    where e.nspname = $3 and p.proname = $4
  ) as functions
from pg_catalog.pg_class as c
join pg_catalog.pg_namespace as n on n.oid = c.relnamespace
left join lateral (
  select x.indkey[0] = k.attnum as is_first,
    x.indkey[0] = k.attnum and x.indisunique and x.indnkeyatts = 1 as is_unique
  from pg_catalog.pg_index as x
  join pg_catalog.pg_attribute as k on k.attrelid = c.oid and k.attname = $2
  where x.indrelid = c.oid and x.indisvalid and x.indpred is null
) as i on true
where c.oid = to_regclass($1)
group by c.oid, n.nspname, c.relname, c.relkind, c.reltype
