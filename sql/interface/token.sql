-- The snap token of the state that the caller sees, with what its transaction has written for the tenant.
-- Pemba accepts it once the transaction is committed.
create or replace function :"entry".token(tenant text) returns text
language plpgsql volatile security definer
set search_path to pg_catalog, pg_temp
set plan_cache_mode to force_generic_plan
set jit to off
set enable_seqscan to off
set enable_bitmapscan to off
as $$
declare
  seen constant pg_snapshot := pg_current_snapshot();
  -- The id of the transaction, if it has written something for the tenant, and the last change of that.
  mine xid8;
  last text;
  -- The transactions that the state does not show, in the order of their ids. The snapshot does not list
  -- the own one. Without a write for the tenant it belongs to them: it may write later.
  running xid8[];
  -- Fewer than a token may name. Ids between the end of the snapshot and the own one count as well:
  -- they are those of transactions and savepoints that are not over.
  hidden_max constant integer := 5000;
  hidden bigint;
  place record;
  body bytea;
begin
  if tenant is null then
    raise exception using
      errcode = 'null_value_not_allowed',
      message = 'the argument `tenant` is null';
  end if;
  if pg_is_in_recovery() then
    raise exception using
      errcode = 'object_not_in_prerequisite_state',
      message = 'a standby does not know which transactions are running',
      hint = 'ask the primary for the token';
  end if;
  select t.number, i.system_identifier || '/' || i.database_oid as server, i.token_secret,
      :"tables".current_timeline() as timeline, greatest(t.created_xid, d.xid) as durable
    into place
    from :"tables".tenants as t
    cross join :"tables".installation as i
    cross join :"tables".durable_xid as d
    where t.id = token.tenant collate "C";
  if not found then
    raise exception using
      errcode = 'PB004',
      message = format('the tenant `%s` does not exist', tenant);
  end if;
  select c.xid, :"tables".change_mark(c.ordinal, c.xmin, c.at)
    into mine, last
    from :"tables".changes as c
    where c.tenant = place.number and c.xid = pg_current_xact_id_if_assigned()
    order by c.ordinal desc
    limit 1;
  running := array(
    select r.xid
    from (
      select x.xid from pg_snapshot_xip(seen) as x(xid)
      union
      select pg_current_xact_id_if_assigned()
      where mine is null and pg_current_xact_id_if_assigned() < pg_snapshot_xmax(seen)
    ) as r(xid)
    order by r.xid
  );
  hidden := cardinality(running)
    + coalesce(greatest(0, mine::text::bigint - pg_snapshot_xmax(seen)::text::bigint), 0);
  if hidden > hidden_max then
    raise exception using
      errcode = 'program_limit_exceeded',
      message = format(
        'a token would have to name %s running transactions, at most %s fit', hidden, hidden_max
      ),
      hint = 'ask for the token after the commit';
  end if;
  body := convert_to(
    concat_ws(
      '.', '4', encode(substr(sha256(convert_to(place.server, 'UTF8')), 1, 8), 'hex'),
      place.timeline,
      coalesce(mine::text, '0'),
      coalesce(last, ''),
      place.durable,
      format(
        '%s:%s:%s', pg_snapshot_xmin(seen), pg_snapshot_xmax(seen), array_to_string(running, ',')
      )
    ),
    'UTF8'
  );
  return rtrim(translate(encode(
    body || substr(:"plans".token_code(place.token_secret, body), 1, 8), 'base64'
  ), E'+/\n', '-_'), '=');
end
$$
