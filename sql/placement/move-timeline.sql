-- The timeline that the server writes (`timeline`): it differs after a standby was promoted.
select current_timeline() as timeline
