-- Notes that a pass has come to its end. Returns nothing.
update installation set collected_at = clock_timestamp()
