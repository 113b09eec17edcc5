-- Writes one tuple for each element of the lists, in one transaction: tenant $2, entity type $5, entity id
-- $6, relation $7, subject type $8, subject id $9, subject relation $10. Only when the number of the tenant is
-- that in $3 and its head that in $4, no map derives the tuple, and no lock of it has to be waited for. `written`
-- is null, and nothing is done, when $1 is not the timeline of the server. Otherwise it says what was done, as the
-- function describes it. $11 is how long the row of another transaction is waited for at most, such as `20ms`.
select write_batch(
  $1::text::integer, $2::text[], $3::text[]::bigint[], $4::text[],
  $5::text[], $6::text[], $7::text[], $8::text[], $9::text[], $10::text[], $11::text
) as written
