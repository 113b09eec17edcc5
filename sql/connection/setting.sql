-- Sets the setting $1 to $2 until the session ends. Returns nothing of use.
select pg_catalog.set_config($1::text, $2::text, false)
