-- Describes a table of an application. $1 has the names that it may have, as SQL spells them: the first one that
-- exists is meant. Returns one row, or none when there is no such table: `schema`, `name`, `kind` as in `pg_class`,
-- `has_parts` (it has partitions or tables that inherit from it),
-- `columns`, and `lookups`, the columns that an index finds.
-- Of a column: `type`, that below a domain, with its schema if it is none of Postgres's own; `is_builtin`
-- (it is of Postgres's own, or an enumeration); `is_exact` (texts are equal only if they are the same).
with recursive named as (
  select to_regclass(given.name)::oid as id
  from unnest($1::text[]) with ordinality as given (name, place)
  where to_regclass(given.name) is not null
  order by given.place
  limit 1
), bases as (
  select a.attnum, a.attname, a.attnotnull, a.attcollation as collation,
    t.oid, t.typname, t.typtype, t.typbasetype, t.typnamespace, t.typcollation
  from pg_catalog.pg_attribute as a
  join pg_catalog.pg_type as t on t.oid = a.atttypid
  where a.attrelid = (select named.id from named) and a.attnum > 0 and not a.attisdropped
  union all
  select b.attnum, b.attname, b.attnotnull, b.collation,
    t.oid, t.typname, t.typtype, t.typbasetype, t.typnamespace, t.typcollation
  from bases as b
  join pg_catalog.pg_type as t on t.oid = b.typbasetype
  where b.typtype = 'd'
)
select n.nspname::text as schema, c.relname::text as name, c.relkind::text as kind,
  exists (select from pg_catalog.pg_inherits as p where p.inhparent = c.oid) as has_parts,
  (
    select coalesce(json_agg(
      json_build_object(
        'name', b.attname,
        'type', case
          when s.nspname = 'pg_catalog' then format_type(b.oid, -1)
          else format('%I.%I', s.nspname, b.typname)
        end,
        'is_nullable', not b.attnotnull,
        'is_builtin', b.typtype = 'e' or s.nspname = 'pg_catalog',
        'is_collatable', b.typcollation <> 0,
        'is_exact', coalesce(l.collisdeterministic, true)
      )
    ), '[]')
    from bases as b
    join pg_catalog.pg_namespace as s on s.oid = b.typnamespace
    left join pg_catalog.pg_collation as l on l.oid = b.collation
    where b.typtype <> 'd'
  ) as columns,
  (
    select coalesce(json_agg(
      json_build_object(
        'column', a.attname,
        'is_unique', x.indisunique and x.indnkeyatts = 1
      )
    ), '[]')
    from pg_catalog.pg_index as x
    join pg_catalog.pg_attribute as a on a.attrelid = x.indrelid and a.attnum = x.indkey[0]
    join pg_catalog.pg_class as i on i.oid = x.indexrelid
    join pg_catalog.pg_am as m on m.oid = i.relam
    where x.indrelid = c.oid and x.indisvalid and x.indpred is null and m.amname in ('btree', 'hash')
  ) as lookups
from pg_catalog.pg_class as c
join pg_catalog.pg_namespace as n on n.oid = c.relnamespace
where c.oid = (select named.id from named)
