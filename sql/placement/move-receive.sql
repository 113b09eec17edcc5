-- Has the target serve the tenant $1, which the process $2 has moved here, as `progress` says. Returns
-- `is_served`.
select receive_tenant(
  $1::text, $2::uuid, (select progress -> 'made' from arrivals where id = $1::text)
) as is_served
