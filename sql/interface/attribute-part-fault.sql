-- The first part of an attribute of a request that is not what it should be: its field and the problem.
-- Nulls when there is none.
create or replace function :"plans".attribute_part_fault(
  given jsonb, out field text, out problem text
)
language plpgsql immutable
set search_path to pg_catalog, pg_temp
as $$
declare
  url constant text := given #>> '{value,@type}';
  known constant text := :"plans".value_type(url);
  read record;
begin
  select f.field, f.problem
    into field, problem
    from (
      values
        ('entity.type', :"plans".json_part_fault(given #> '{entity,type}', true)),
        ('entity.id', :"plans".json_part_fault(given #> '{entity,id}', false)),
        ('attribute', :"plans".json_part_fault(given -> 'attribute', true)),
        (
          'value',
          case when coalesce(given -> 'value', 'null') = 'null'
            then 'is missing, expected an object such as {"@type": "base.v1.BooleanValue", "data": true}'
          end
        ),
        (
          'value.@type',
          case
            when coalesce(url, '') = ''
              then 'is missing, expected a type URL such as `type.googleapis.com/base.v1.BooleanValue`'
            when known is null
              then format(
                '%s is not a known type, expected `type.googleapis.com/` and one of base.v1.BooleanValue, base.v1.BooleanArrayValue, base.v1.StringValue, base.v1.StringArrayValue, base.v1.IntegerValue, base.v1.IntegerArrayValue, base.v1.DoubleValue, base.v1.DoubleArrayValue',
                :"plans".shown_json(given #> '{value,@type}')
              )
          end
        )
    ) as f(field, problem)
    where f.problem is not null
    limit 1;
  if problem is null then
    read := :"plans".attribute_value(known, given #> '{value,data}');
    field := 'value.data' || read.path;
    problem := read.problem;
  end if;
end
$$
