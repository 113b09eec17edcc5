-- Makes the questions $4 and the names $5 of version $2 of the tenant with the number $1, of the
-- fingerprint $3. The questions need the plan functions with the hashes $6, of which $7 are made here
-- where they are missing. Returns one row: `is_done`, false when a function is missing that is not in $7.
select sync_version as is_done
from :"plans".sync_version(
  $1::bigint, $2::text, $3::text, $4::text::jsonb, $5::text::jsonb, $6::text[],
  $7::text::jsonb
)
