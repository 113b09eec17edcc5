-- The code of a token that is made in SQL: HMAC-SHA-256 (RFC 2104) with a key for this kind of token
-- alone, which is derived from the secret of the database.
create or replace function :"plans".token_code(secret text, body bytea) returns bytea
language plpgsql immutable
set search_path to pg_catalog, pg_temp
as $$
declare
  inner_pad constant bit(512) := ('x' || repeat('36', 64))::bit(512);
  outer_pad constant bit(512) := ('x' || repeat('5c', 64))::bit(512);
  -- A key that is longer than a block counts as its hash.
  key bytea := case
    when octet_length(secret) > 64 then sha256(convert_to(secret, 'UTF8'))
    else convert_to(secret, 'UTF8')
  end;
  part bytea;
  block bit(512);
begin
  foreach part in array array[convert_to('sql token', 'UTF8'), body] loop
    block := ('x' || rpad(encode(key, 'hex'), 128, '0'))::bit(512);
    -- The first four bytes that the function returns are the length.
    key := sha256(
      substr(bit_send(block # outer_pad), 5)
      || sha256(substr(bit_send(block # inner_pad), 5) || part)
    );
  end loop;
  return key;
end
$$
