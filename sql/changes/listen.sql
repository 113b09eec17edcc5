-- Has the connection be told what `announce.sql` tells. Returns nothing.
listen pemba_changes
