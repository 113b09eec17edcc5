-- Up Migration

-- Returns a text that names the life of this database: a server that was restarted begins another one, and one
-- that was promoted. A database that takes the name of another one has its own. What an earlier life showed may
-- have been lost. Servers that replay the changes of one writer may share a life.
--
-- It is one expression, so that statements take it in.
create function database_life() returns text
language sql volatile parallel safe
as $$
  select concat_ws(
    ' ',
    pg_relation_filepath('installation'),
    current_timeline(),
    -- The counters of a writer begin anew when it recovers from a crash of one of its processes.
    case
      when not pg_is_in_recovery() then
        concat_ws(' ', pg_postmaster_start_time(), pg_stat_get_bgwriter_stat_reset_time())
    end
  )
$$;

revoke execute on function database_life from public;
