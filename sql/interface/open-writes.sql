-- Returns one row for each transaction that is open and has written into the log: `holder`, which no
-- other one has at the same time.
select logged.virtualtransaction || ' ' || own.transactionid::text as holder
from pg_locks as logged
join pg_locks as own
  on own.virtualtransaction = logged.virtualtransaction
  and own.locktype = 'transactionid'
  and own.mode = 'ExclusiveLock'
  and own.granted
where logged.locktype = 'relation'
  and logged.database = (select oid from pg_database where datname = current_database())
  and logged.relation = to_regclass(quote_ident(:'tables') || '.changes')
  and logged.mode = 'RowExclusiveLock'
  and logged.granted
