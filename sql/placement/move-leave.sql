-- Leaves the rows of the tenant $1, which has moved by the process $2, to be removed at the source.
with gone as (
  delete from departures where id = $1::text and mover = $2::uuid and hidden is not null
  returning number
)
insert into removed_tenants (number) select number from gone on conflict do nothing
