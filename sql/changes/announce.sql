-- Wakes everybody who listens for changes. Returns nothing of use.
select pg_notify('pemba_changes', '')
