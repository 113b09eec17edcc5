-- Returns `name` and `applied_at` of every migration that is applied.
select name::text as name, run_on::timestamptz as applied_at from pemba_migrations
