-- Returns how many blocks the tables have now, `relationships` and `attributes`, and `files`, which differs after rows
-- got other places, as `vacuum full` gives them.
select
  (pg_relation_size('relationships') / current_setting('block_size')::bigint)::integer
    as relationships,
  (pg_relation_size('attributes') / current_setting('block_size')::bigint)::integer as attributes,
  concat_ws(' ', pg_relation_filenode('relationships'), pg_relation_filenode('attributes')) as files
