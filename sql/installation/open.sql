-- Returns the `identity` of the cluster and database, which makes tokens good here. Records what a
-- start finds new: the cluster, a timeline.
select identity from open_installation() limit 1
