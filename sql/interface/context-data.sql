-- The `data` of the context in the setting `pemba.context`, which rules read.
create or replace function :"plans".context_data() returns jsonb
language plpgsql stable parallel restricted
set search_path to pg_catalog, pg_temp
as $$
declare
  given text := coalesce(current_setting('pemba.context', true), '');
  context jsonb;
  is_json boolean := true;
  problem text;
begin
  if given = '' then
    return '{}'::jsonb;
  end if;
  if current_setting('server_version_num')::integer >= 160000 then
    is_json := pg_input_is_valid(given, 'jsonb');
    if is_json then
      context := given::jsonb;
    end if;
  else
    -- Within a parallel query this fails, which newer servers do not.
    begin
      context := given::jsonb;
    exception
      when invalid_text_representation or untranslatable_character then
        is_json := false;
    end;
  end if;
  problem := case
    when not is_json then 'it is not JSON'
    when jsonb_typeof(context) <> 'object' then 'it is not a JSON object'
    when exists (select from jsonb_object_keys(context) as k(name) where k.name <> 'data')
      then 'it has a key other than `data`'
    when context ? 'data' and jsonb_typeof(context -> 'data') <> 'object'
      then 'its `data` is not a JSON object'
  end;
  if problem is not null then
    raise exception using
      errcode = 'invalid_parameter_value',
      message = format('`pemba.context`: %s', problem),
      hint = 'it has the form {"data": {...}}';
  end if;
  return coalesce(context -> 'data', '{}'::jsonb);
end
$$
