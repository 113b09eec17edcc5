-- Fails with PB005 and the faults of data, each with `code`, `field` and `message`; without any, with
-- PB001: a version that was not synced allows nothing.
create or replace function :"plans".refuse_data(faults jsonb, head text) returns void
language plpgsql volatile
set search_path to pg_catalog, pg_temp
as $$
begin
  if jsonb_array_length(faults) = 0 then
    raise exception using
      errcode = 'PB001',
      message = 'nothing can be written in SQL under the schema of the tenant',
      detail = case
        when head is null then 'the tenant has no schema'
        else format('the schema version %s was not synced', head)
      end,
      hint = 'run `pemba sql sync`';
  end if;
  raise exception using
    errcode = 'PB005',
    message = format(
      'ERROR_CODE_%s: %s: %s', faults #>> '{0,code}', faults #>> '{0,field}', faults #>> '{0,message}'
    ),
    detail = (
      select jsonb_agg(f.fault - 'code' order by f.place)
      from jsonb_array_elements(faults) with ordinality as f(fault, place)
    ),
    hint = 'correct the elements that the detail lists; nothing of the call was done';
end
$$
