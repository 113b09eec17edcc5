-- Removes the placements on the cluster $1, whose database this is, of tenants that it does not have:
-- an instance that knows one database has deleted them.
with gone as (
  delete from placements
  where cluster = $1::text
    and state = 'placed'
    -- Not an anti-join, which would ask an index for each of a million tenants.
    and tenant = any (array(
      select placed.tenant
      from placements as placed
      where placed.cluster = $1::text and placed.state = 'placed'
      except
      select id from tenants
    ))
  returning tenant
)
delete from moves
where tenant in (select tenant from gone) and step = 'ended'
