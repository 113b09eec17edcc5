-- The `data` of the context in the setting `pemba.context`, which rules read.
create or replace function :"plans".context_data() returns jsonb
language plpgsql stable parallel restricted
set search_path to pg_catalog, pg_temp
as $$
declare
  given text := coalesce(current_setting('pemba.context', true), '');
  context jsonb;
  problem text;
begin
  if given = '' then
    return '{}'::jsonb;
  end if;
  -- Before 16 the error is that of the cast, 22P02: to catch it would need a subtransaction, which a
  -- parallel query does not allow.
  if current_setting('server_version_num')::integer >= 160000 then
    problem := case
      when pg_input_is_valid(given, 'jsonb') then null
      when pg_input_is_valid(given, 'json') then 'it has a character or a number that is out of range'
      else 'it is not JSON'
    end;
  end if;
  if problem is null then
    context := given::jsonb;
    problem := case
      when jsonb_typeof(context) <> 'object' then 'it is not a JSON object'
      when exists (select from jsonb_object_keys(context) as k(name) where k.name <> 'data')
        then 'it has a key other than `data`'
      when context ? 'data' and jsonb_typeof(context -> 'data') <> 'object'
        then 'its `data` is not a JSON object'
      -- Conditions read numbers as doubles, and the cast of these would fail.
      when jsonb_path_exists(
        context,
        'strict $.** ? (@.type() == "number" && (
          @ > 1.797693134862315807e308 || @ < -1.797693134862315807e308
        ))'
      )
        then 'it has a number that is out of the range of a double'
    end;
    -- Only a number of more than 15 digits, or one near zero, may differ from its double.
    if problem is null and given ~ '[0-9.]{16}|[eE]-[0-9]{3}' then
      context := :"plans".rounded_json(given);
    end if;
  end if;
  if problem is not null then
    raise exception using
      errcode = 'invalid_parameter_value',
      message = format('`pemba.context`: %s', problem),
      hint = 'it has the form {"data": {...}}';
  end if;
  return coalesce(context -> 'data', '{}'::jsonb);
end
$$
