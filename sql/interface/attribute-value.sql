-- The value of an attribute as it is stored, from the JSON of a request: numbers that JSON does not have
-- are texts. Else `problem` says what is wrong, and `path` where in a list it is.
create or replace function :"plans".attribute_value(
  value_type text, given jsonb, out value jsonb, out problem text, out path text
)
language plpgsql immutable
set search_path to pg_catalog, pg_temp
-- A number of 64 bits keeps all its digits.
set extra_float_digits to 1
as $$
declare
  item_type constant text := replace(value_type, '[]', '');
  item jsonb;
  spelled text;
  number numeric;
  items jsonb[] := '{}';
  is_list constant boolean := value_type like '%[]';
begin
  path := '';
  if coalesce(given, 'null') = 'null' then
    -- As a message without the field.
    value := case
      when is_list then '[]'::jsonb
      when item_type = 'boolean' then 'false'
      when item_type = 'string' then '""'
      else '0'
    end;
    return;
  end if;
  if is_list and jsonb_typeof(given) <> 'array' then
    problem := format('%s is not an array', :"plans".shown_json(given));
    return;
  end if;
  for item in
    select e.item
    from jsonb_array_elements(case when is_list then given else jsonb_build_array(given) end)
      with ordinality as e(item, place)
    order by e.place
  loop
    if is_list then
      path := format('[%s]', cardinality(items));
    end if;
    spelled := item #>> '{}';
    if item_type in ('boolean', 'string') then
      if jsonb_typeof(item) <> item_type then
        problem := format(
          '%s is not %s', :"plans".shown_json(item),
          case item_type when 'boolean' then 'true or false' else 'a text' end
        );
        return;
      end if;
      items := items || item;
    elsif item_type = 'double' and spelled in ('NaN', 'Infinity', '-Infinity', '-0') then
      items := items || to_jsonb(spelled);
    else
      number := null;
      if jsonb_typeof(item) = 'number' or jsonb_typeof(item) = 'string'
        and octet_length(spelled) <= 1000
        and spelled ~ (
          case item_type
            when 'integer' then '^[+-]?[0-9]+$'
            else '^[+-]?[0-9]+([.][0-9]+)?([eE][+-]?0*[0-9]{1,4})?$'
          end
        )
      then
        number := spelled::numeric;
      end if;
      if item_type = 'integer' then
        if number is null or number <> trunc(number) or abs(number + 0.5) > 2147483648 then
          problem := format('%s is not an integer of 32 bits', :"plans".shown_json(item));
          return;
        end if;
        items := items || to_jsonb(number::integer);
      else
        if number is null or abs(number) > 1.797693134862315807e308 then
          problem := format(
            '%s is not a number, "NaN", "Infinity" or "-Infinity"', :"plans".shown_json(item)
          );
          return;
        end if;
        -- The cast would fail where half of the least double, and less, is rounded to zero.
        items := items || to_jsonb(
          case
            when abs(number) <= 2.4703282292062327208828439643411068618252e-324 then 0
            else number::double precision
          end
        );
      end if;
    end if;
  end loop;
  path := '';
  value := case when is_list then to_jsonb(items) else items[1] end;
end
$$
