-- The cluster $2 has made the tenant $1, with the name $3 and at the time $4. No row if its placement is
-- not one of a creation there.
update placements
set state = 'placed', version = default, changed_at = now(), name = $3::text, created_at = $4::timestamptz
where tenant = $1::text
  and cluster = $2::text
  and state = 'creating'
returning version::text
