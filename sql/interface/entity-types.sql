-- The entity types of a schema version, in its order. Empty when nothing is known of it.
create or replace function :"plans".entity_types(tenant_number bigint, head text) returns text[]
language plpgsql stable
set search_path to pg_catalog, pg_temp
as $$
begin
  return array(
    select n.entity_type
    from :"plans".names as n
    where n.tenant = tenant_number and n.version = entity_types.head and n.name = ''
    order by n.place
  );
end
$$
