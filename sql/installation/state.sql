-- Returns what of the database is visible now (`snapshot`) and its `timeline`.
select pg_current_snapshot()::text as snapshot, current_timeline() as timeline
