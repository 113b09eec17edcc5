-- Places the tenant $1 with the name $3 on the cluster $2, before the cluster has it. No row if it has a
-- placement, or if this database has it without one.
insert into placements (tenant, cluster, state, name)
select $1::text, $2::text, 'creating', $3::text
where not exists (select from tenants where id = $1::text)
on conflict (tenant) do nothing
returning version::text
