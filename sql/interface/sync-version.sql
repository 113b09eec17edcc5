-- Makes the questions $4 of version $2 of the tenant with the number $1, of the fingerprint $3, which
-- need the plan functions with the hashes $5, of which $6 are made here where they are missing. Returns
-- one row: `is_done`, false when a function is missing that is not in $6.
select sync_version as is_done
from :"plans".sync_version(
  $1::bigint, $2::text, $3::text, $4::text::jsonb, $5::text[], $6::text::jsonb
)
