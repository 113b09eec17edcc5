-- Returns `has_moved`: may tenant $1 have been on another cluster than now?
select exists (select from moves where tenant = $1::text) as has_moved
