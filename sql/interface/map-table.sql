-- What a map needs to know of a table. $1 has the names that it may have, as SQL spells them: the first one that
-- exists is meant. Returns one row, or none when there is no such table: `schema`, `name`, `kind` as in `pg_class`;
-- `parent`, the table of which it is a partition
-- or a child, and `child`, one that inherits from it; `columns`, a list with `name`, `type`, which is that
-- below a domain, and `is_virtual`; `keys`, a list with the columns of each unique index that always holds
-- for all rows, the primary key first.
with recursive named as (
  select to_regclass(given.name)::oid as id
  from unnest($1::text[]) with ordinality as given (name, place)
  where to_regclass(given.name) is not null
  order by given.place
  limit 1
), bases as (
  select a.attnum, a.attname, a.attgenerated, t.oid, t.typtype, t.typbasetype
  from pg_catalog.pg_attribute as a
  join pg_catalog.pg_type as t on t.oid = a.atttypid
  where a.attrelid = (select named.id from named) and a.attnum > 0 and not a.attisdropped
  union all
  select b.attnum, b.attname, b.attgenerated, t.oid, t.typtype, t.typbasetype
  from bases as b
  join pg_catalog.pg_type as t on t.oid = b.typbasetype
  where b.typtype = 'd'
)
select n.nspname::text as schema, c.relname::text as name, c.relkind::text as kind,
  (
    select i.inhparent::regclass::text
    from pg_catalog.pg_inherits as i
    where i.inhrelid = c.oid
    limit 1
  ) as parent,
  (
    select i.inhrelid::regclass::text
    from pg_catalog.pg_inherits as i
    where i.inhparent = c.oid and c.relkind <> 'p'
    limit 1
  ) as child,
  (
    select coalesce(jsonb_agg(
      jsonb_build_object(
        'name', b.attname, 'type', format_type(b.oid, null), 'is_virtual', b.attgenerated = 'v'
      )
      order by b.attnum
    ), '[]')
    from bases as b
    where b.typtype <> 'd'
  ) as columns,
  (
    select coalesce(jsonb_agg(k.columns order by not x.indisprimary, x.indexrelid), '[]')
    from pg_catalog.pg_index as x
    cross join lateral (
      select jsonb_agg(a.attname order by p.place) as columns
      from unnest(x.indkey::smallint[]) with ordinality as p(attnum, place)
      join pg_catalog.pg_attribute as a on a.attrelid = c.oid and a.attnum = p.attnum
      where p.place <= x.indnkeyatts
    ) as k
    where x.indrelid = c.oid
      and x.indisunique and x.indisvalid and x.indimmediate
      and x.indpred is null and x.indexprs is null
  ) as keys
from pg_catalog.pg_class as c
join pg_catalog.pg_namespace as n on n.oid = c.relnamespace
where c.oid = (select named.id from named)
