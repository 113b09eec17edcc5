-- Changes the data of tenant $1 as $9 says (json, see the function), if its preconditions hold. $2 is a
-- version that must exist, or null; $3 the head that must still be, or null. $4 to $8 are the state
-- since which nothing may have changed (snapshot, timeline, change, id from which transactions began
-- later, and `last` as `is_logged_otherwise` takes it), or null. Returns `outcome` (`written`, `failed`,
-- `unreadable`, `no_tenant`, `no_version`, `other_head`), what it says more about that, and what a snap
-- token is made of: it goes by `durable` when nothing changed, and by `xid` otherwise. Fails with PB006
-- when a map derives what is written, or what a filter names. $10 is how long a lock is waited for at
-- most, such as `1s` (it is set before the function begins), or null for as long as the server says.
select outcome, head, to_jsonb(missing) as missing, to_jsonb(present) as present, is_changed, is_future,
  is_lost, is_expired, is_before_tenant, is_partial, snapshot::text, xid::text,
  durable_unless_logged($1::text)::text as durable, timeline
from change_data(
  case
    when set_config('lock_timeout', coalesce($10::text, current_setting('lock_timeout')), true)
      is not null
      and allows_operations($1::text, jsonb_build_array($9::text::jsonb))
      then $1::text
  end,
  $2::text, $3::text, $4::text::pg_snapshot, $5::integer, $6::text::xid8, $7::text::xid8,
  $8::text, $9::text::jsonb
)
