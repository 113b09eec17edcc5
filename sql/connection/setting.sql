-- Sets the setting $1 to $2 until the session ends. Returns nothing of use.
select set_config($1::text, $2::text, false)
