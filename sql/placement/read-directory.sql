-- The directory that this database belongs to, and its cluster. No row if it belongs to none.
select id::text, cluster, is_here
from directory
