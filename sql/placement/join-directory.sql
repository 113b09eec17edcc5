-- Has this database, of the cluster $2, belong to the directory with the id $1, unless it belongs to one
-- already, or has tenants.
insert into directory (id, cluster, is_here)
select $1::uuid, $2::text, false
where not exists (select from tenants)
on conflict do nothing
