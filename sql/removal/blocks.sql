-- Returns how many blocks the tables have now: `relationships` and `attributes`.
select
  (pg_relation_size('relationships') / current_setting('block_size')::bigint)::integer
    as relationships,
  (pg_relation_size('attributes') / current_setting('block_size')::bigint)::integer as attributes
