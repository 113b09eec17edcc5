-- Where tenant $1 is. Returns `cluster`, null without a placement, and `is_here`: does this database,
-- which is that of the directory, have the tenant?
select
  (select cluster from placements where tenant = $1::text) as cluster,
  exists (select from tenants where id = $1::text) as is_here
