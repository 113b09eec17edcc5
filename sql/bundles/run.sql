-- Applies the operations $4 (json, see the function) of a bundle to tenant $1, when that is the one
-- with the number $2 and $3 is its head or null. Returns `outcome` (`written`, `no_tenant`,
-- `other_head`), `head`, and what a snap token is made of.
select outcome, head, snapshot::text, xid::text, timeline
from run_bundle($1::text, $2::bigint, $3::text, $4::text::jsonb)
