-- Frees the tenant id $1 and leaves its rows to be removed. Returns `deleted`: was there a tenant? $2
-- is how long a lock is waited for at most, such as `1s` (it is set before the function begins), or
-- null for as long as the server says.
select delete_tenant(
  case
    when set_config('lock_timeout', coalesce($2::text, current_setting('lock_timeout')), true)
      is not null then $1::text
  end
) as deleted
