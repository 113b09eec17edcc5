-- Writes into tenant $1 what $6 to $16 hold: entity type, entity id, relation, subject type, subject
-- id and subject relation of tuples, then entity type, entity id, attribute, type and json value of
-- attributes. Only when version $4 exists or, when that is null, $5 is the head. $2 is the number of
-- the tenant and $3 a recorded timeline, as far as they are known. Returns `outcome` (`written`,
-- `no_tenant`, `no_version`, `other_head`), the true `number` and `head`, and what a snap token is made
-- of: it goes by `durable` when nothing changed, and by `xid` otherwise. Fails with PB006 when a map
-- derives some of it. $17 is how long a lock is waited for at most, such as `1s` (it is set before the
-- function begins), or null for as long as the server says.
select outcome, number::text, head, snapshot::text, xid::text,
  durable_unless_logged($1::text)::text as durable, timeline
from write_data(
  case
    when set_config('lock_timeout', coalesce($17::text, current_setting('lock_timeout')), true)
      is not null
      and allows_data(
        $1::text, $6::text[], $8::text[], $9::text[], $11::text[], $12::text[], $14::text[]
      )
      then $1::text
  end,
  $2::text::bigint, $3::integer, $4::text, $5::text,
  $6::text[], $7::text[], $8::text[], $9::text[], $10::text[], $11::text[],
  $12::text[], $13::text[], $14::text[], $15::text[], $16::text[]
)
