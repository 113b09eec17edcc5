-- The tuples of this database, as `total`, and its largest tenants: `tenants` is a json text of at most $1 arrays (id,
-- number of tuples), the largest first.
with counted as materialized (
  select tenants.id, count(*) as tuples
  from relationships
  join tenants on tenants.number = relationships.tenant
  group by tenants.id
)
select coalesce((select sum(tuples) from counted), 0)::text as total,
  (
    select coalesce(json_agg(json_build_array(id, tuples) order by tuples desc, id), '[]')::text
    from (select id, tuples from counted order by tuples desc, id limit $1::integer) as largest
  ) as tenants
