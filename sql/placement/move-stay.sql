-- The tenant $1 stays at the source, and the process $2 moves it no more. Returns `is_others`: another process has
-- put its name there.
with gone as (
  delete from departures where id = $1::text and mover = $2::uuid and hidden is null
)
select exists (select from departures where id = $1::text and mover <> $2::uuid) as is_others
