grant create on schema :"entry" to :"role"
