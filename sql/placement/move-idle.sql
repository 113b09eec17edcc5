-- Returns those of the tenants $1 (`tenant`) of which no move is under way.
select given.tenant
from unnest($1::text[]) as given (tenant)
where not exists (
  select from moves where moves.tenant = given.tenant and moves.step <> 'ended'
)
