-- Tenant $1 is about to be deleted. No row if it is placed nowhere, or not yet.
update placements
set state = 'deleting', version = default, changed_at = now()
where tenant = $1::text
  and state in ('placed', 'deleting')
returning tenant, cluster, state, version::text
