-- Deletes from tenant $1, when $2, the tuples that $3 to $8 let through (entity type, entity ids,
-- relation, subject type, subject ids, subject relation), and when $9 the attributes that $10 to $12
-- let through (entity type, entity ids, names); empty means any. Returns `outcome` (`written`,
-- `no_tenant`) and what a snap token is made of: it goes by `durable` when nothing changed, and by `xid`
-- otherwise. What maps derive stays; fails with PB006 when a filter names it. $13 is how long a lock is
-- waited for at most, such as `1s` (it is set before the function begins), or null for as long as the
-- server says.
select outcome, snapshot::text, xid::text, durable_unless_logged($1::text)::text as durable, timeline
from delete_data(
  case
    when set_config('lock_timeout', coalesce($13::text, current_setting('lock_timeout')), true)
      is not null then $1::text
  end,
  $2::boolean, $3::text, $4::text[], $5::text, $6::text, $7::text[], $8::text,
  $9::boolean, $10::text, $11::text[], $12::text[]
)
