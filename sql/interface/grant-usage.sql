grant usage on schema :"entry" to :"role"
