-- Returns what of the database is visible now (`snapshot`), the last durable id (`durable`), and the
-- `timeline`.
select pg_current_snapshot()::text as snapshot, durable_xid.xid::text as durable,
  current_timeline() as timeline
from durable_xid
