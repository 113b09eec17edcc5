-- Applies the operations $4 (json, see the function) of a bundle to tenant $1, when that is the one
-- with the number $2 and $3 is its head or null. Returns `outcome` (`written`, `no_tenant`,
-- `other_head`), `head`, and what a snap token is made of: it goes by `durable` when nothing changed, and
-- by `xid` otherwise. Fails with PB006 when a map derives what an operation names. $5 is how long a lock
-- is waited for at most, such as `1s` (it is set before the function begins), or null for as long as the
-- server says.
select outcome, head, snapshot::text, xid::text, durable_unless_logged($1::text)::text as durable,
  timeline
from run_bundle(
  case
    when set_config('lock_timeout', coalesce($5::text, current_setting('lock_timeout')), true)
      is not null
      and allows_operations($1::text, $4::text::jsonb)
      then $1::text
  end,
  $2::bigint, $3::text, $4::text::jsonb
)
