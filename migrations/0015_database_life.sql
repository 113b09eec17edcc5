-- Up Migration

-- Returns a text that names the life of this server, with its timeline: another server has another one, and so has
-- this one after a restart. What an earlier life showed may have been lost.
create function server_life() returns text
language sql volatile parallel safe
as $$
  select case
    when pg_is_in_recovery() then coalesce(current_timeline()::text, '')
    -- The counters of the server begin anew when it recovers from a crash of one of its processes.
    else concat_ws(
      ' ', current_timeline(), pg_postmaster_start_time(), pg_stat_get_bgwriter_stat_reset_time()
    )
  end
$$;

revoke execute on function server_life from public;
