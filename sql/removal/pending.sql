-- Returns the `number` of every tenant whose rows are still to be removed.
select number from removed_tenants order by number
