-- Makes this database, of the cluster $1, that of a directory, unless it belongs to one already.
insert into directory (cluster, is_here)
values ($1::text, true)
on conflict do nothing
