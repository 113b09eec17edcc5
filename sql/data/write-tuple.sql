-- Writes into tenant $1 one tuple: entity type $5, entity id $6, relation $7, subject type $8, subject
-- id $9, subject relation $10. Only when $2 is the number of the tenant, $4 its head and $3 the
-- timeline of the server, and no map derives the tuple; else `written` is null and nothing is done.
-- Otherwise it is what a snap token is made of, with spaces between: the transaction id and the snapshot;
-- if the tuple was there already, 0, the snapshot and the last durable id. $11 is how
-- long a lock is waited for at most, such as `1s`, or null for as long as the server says.
select write_tuple(
  $1::text, $2::text::bigint, $3::integer, $4::text,
  $5::text, $6::text, $7::text, $8::text, $9::text, $10::text, $11::text
) as written
