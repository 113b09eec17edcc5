-- Have all transactions ended that have an id below $1 (`is_quiet`)?
select pg_snapshot_xmin(pg_current_snapshot()) > $1::text::xid8 as is_quiet
