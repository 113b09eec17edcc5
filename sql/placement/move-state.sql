-- What a copy of the tenant number $1 begins with: `snapshot`, which shows less than every page that is read
-- later, and `durable`, the last durable id; `horizon`, below which history is gone; for each table how many
-- blocks it has, and its file, which changes if rows get other places.
select pg_current_snapshot()::text as snapshot,
  (select durable_xid.xid from durable_xid)::text as durable, installation.horizon::text,
  (pg_relation_size('relationships') / current_setting('block_size')::bigint)::integer
    as tuple_blocks,
  (pg_relation_size('attributes') / current_setting('block_size')::bigint)::integer
    as attribute_blocks,
  concat_ws(' ', pg_relation_filenode('relationships'), pg_relation_filenode('attributes')) as files
from installation
