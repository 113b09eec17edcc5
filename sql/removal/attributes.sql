-- Removes the attributes of the tenants $1 that lie from tuple id $2 up to before $3. Returns nothing.
-- No index leads by tenant, and a removal is rare: it walks over the table, a range at a time.
delete from attributes
where ctid >= $2::tid and ctid < $3::tid and tenant = any($1::bigint[])
