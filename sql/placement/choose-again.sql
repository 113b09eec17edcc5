-- Leads the creation of tenant $1 to the cluster $3, if its placement still has the version $2.
update placements
set cluster = $3::text, version = default, changed_at = now()
where tenant = $1::text
  and version = $2::uuid
  and state = 'creating'
returning version::text
