-- Forgets a map, so that what it derived can be written as anything else.
create or replace function :"entry".drop_map(name text) returns void
language plpgsql volatile security definer
set search_path to pg_catalog, pg_temp
as $$
begin
  delete from :"tables".derived as d where d.map = drop_map.name;
  delete from :"tables".maps as m where m.name = drop_map.name;
end
$$
