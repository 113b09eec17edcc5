-- Creates the tenant with the id $1 and the name $2 and returns its `created_at`; no row when the
-- id is taken.
insert into tenants (id, name)
values ($1::text, $2::text)
on conflict do nothing
returning created_at
