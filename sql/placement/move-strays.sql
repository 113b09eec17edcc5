-- At most $1 notes of moves here that need no step to be undone, each with the `side` of the move, the `tenant` and
-- the process (`mover`).
select 'source' as side, id as tenant, mover::text from departures where hidden is null
union all
select 'target', id, mover::text from arrivals
order by tenant, side
limit $1::integer
