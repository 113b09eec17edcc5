-- Tenant $1 is there and stays, if its placement still has the version $2.
update placements
set state = 'placed', version = default, changed_at = now()
where tenant = $1::text
  and version = $2::uuid
