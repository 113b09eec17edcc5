-- Leaves the rows of the tenant $1, which the process $2 has moved here, to be removed: it does not come. Returns
-- `is_others`: they stay, since another process has put its name there.
with gone as (
  delete from arrivals where id = $1::text and mover = $2::uuid
  returning number
),
left_over as (
  insert into removed_tenants (number) select number from gone on conflict do nothing
)
select exists (select from arrivals where id = $1::text and mover <> $2::uuid) as is_others
