-- Leaves the rows of the tenant $1, which has moved by the process $2, to be removed at the source. Returns
-- `is_others`: they stay, since another process has put its name there.
with gone as (
  delete from departures where id = $1::text and mover = $2::uuid and hidden is not null
  returning number
),
left_over as (
  insert into removed_tenants (number) select number from gone on conflict do nothing
)
select exists (select from departures where id = $1::text and mover <> $2::uuid) as is_others
