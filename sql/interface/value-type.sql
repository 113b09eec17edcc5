-- The type of the value of an attribute, from the type URL of a request. Null when it is none.
create or replace function :"plans".value_type(url text) returns text
language plpgsql immutable
set search_path to pg_catalog, pg_temp
as $$
begin
  return case regexp_replace(url, '^.*/', '')
    when 'base.v1.BooleanValue' then 'boolean'
    when 'base.v1.BooleanArrayValue' then 'boolean[]'
    when 'base.v1.StringValue' then 'string'
    when 'base.v1.StringArrayValue' then 'string[]'
    when 'base.v1.IntegerValue' then 'integer'
    when 'base.v1.IntegerArrayValue' then 'integer[]'
    when 'base.v1.DoubleValue' then 'double'
    when 'base.v1.DoubleArrayValue' then 'double[]'
  end;
end
$$
