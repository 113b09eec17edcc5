-- The tenant $1 stays at the source, and the process $2 moves it no more.
delete from departures where id = $1::text and mover = $2::uuid and hidden is null
