-- Does what `schemas/write.sql` does, and makes the questions $6 and the names $7 of the version, of the
-- fingerprint $5. The questions need the plan functions with the hashes $8, of which $9 are made here
-- where they are missing.
-- The `outcome` can also be `missing_functions`.
select outcome, head
from :"plans".write_schema(
  $1::text, $2::text, $3::text, $4::text, $5::text, $6::text::jsonb, $7::text::jsonb,
  $8::text[], $9::text::jsonb
)
