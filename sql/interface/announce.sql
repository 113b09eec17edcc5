-- Wakes everybody who follows changes. To be called after the commit of what it announces: inside of it,
-- the commit would take a lock of the whole database.
create or replace function :"entry".announce() returns void
language plpgsql volatile security definer
set search_path to pg_catalog, pg_temp
as $$
begin
  perform pg_notify('pemba_changes', '');
end
$$
