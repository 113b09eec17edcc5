-- Up Migration

-- Whether a state that was seen on another timeline may be lost: the server that took over (or was
-- recovered to a point in time) may lack transactions that the state shows. Ids alone do not tell:
-- transactions do not commit in the order of their ids, and others than Pemba take ids as well.
--
-- The log tells. What a transaction could see when it began was in the write-ahead log before it,
-- so where its own change is kept, so is what it saw; ids from the first of a later timeline on
-- are not those of the earlier one. A state is kept when
-- * the change whose token names it is in the log, or
-- * so is any change of the tenant that began after the state was looked at, and the change whose
--   token it is, if it is one that found nothing to do, has not failed since.
create function is_lost(
  tenant_number bigint,
  seen_timeline integer,
  change_xid xid8,
  taken_before xid8
)
returns boolean
language plpgsql volatile
as $$
declare
  first_later xid8 := (
    select timelines.first_xid from timelines
    where timelines.timeline > seen_timeline
    order by timelines.timeline limit 1
  );
begin
  -- A server that was left behind.
  if seen_timeline > current_timeline() then
    return true;
  end if;
  if exists (
    select from changes
    where changes.tenant = tenant_number
      and changes.xid = change_xid
      and (first_later is null or changes.xid < first_later)
  ) then
    return false;
  end if;
  if not exists (
    select from changes
    where changes.tenant = tenant_number
      and changes.xid >= taken_before
      and (first_later is null or changes.xid < first_later)
  ) then
    return true;
  end if;
  -- Below an id that has been given out, so it has a status; none when that was long ago.
  return coalesce(pg_xact_status(change_xid), 'committed') <> 'committed';
end
$$;

-- Down Migration

drop function is_lost(bigint, integer, xid8, xid8);
