-- By default every role may call a new function.
revoke execute on function
  :"entry".may(text, text, text, text, text, text, text),
  :"entry".may_of(text, text, text[], text, text, text, text),
  :"entry".visible(text, text, text, text, text, text),
  :"entry".visible_ids(text, text, text, text, text, text),
  :"entry".visible_count(text, text, text, text, text, integer),
  :"entry".who(text, text, text, text, text, text),
  :"entry".list_reach(text, text, text, text, text, integer),
  :"entry".list_few(
    text, text, text, text, text, integer[], text[], numeric[], boolean[], integer
  ),
  :"entry".list_scan(
    text, text, text, text, text, integer[], text[], numeric[], boolean[], text[], integer
  ),
  :"entry".write_tuple(text, text, text, text, text, text, text),
  :"entry".write_tuples(text, text[]),
  :"entry".delete_tuples(text, text[]),
  :"entry".delete_entity(text, text, text),
  :"entry".write_attributes(text, jsonb),
  :"entry".delete_attributes(text, text[]),
  :"entry".create_derived_tuples(
    text, text, text, text[], text[], text[], text[], text[], boolean
  ),
  :"entry".delete_derived_tuples(text, text, text, text[], text[], text[], text[], text[]),
  :"entry".set_derived_attributes(text, text, text, text[], text[], text[], text[], boolean),
  :"entry".delete_derived_attributes(text, text, text, text[], text[]),
  :"entry".delete_all_derived(text),
  :"entry".keep_map(text, text, jsonb, text, jsonb),
  :"entry".drop_map(text),
  :"entry".token(text),
  :"entry".announce(),
  :"entry".subject(),
  :"plans".locate(text, text, text, text, text, text),
  :"plans".undecided(text, text, text, text, text, text),
  :"plans".context_data(),
  :"plans".rounded_json(text),
  :"plans".missing_functions(text[]),
  :"plans".keep_function(text, text, text),
  :"plans".make_functions(jsonb),
  :"plans".put_questions(bigint, text, text, jsonb),
  :"plans".put_names(bigint, text, jsonb),
  :"plans".write_schema(text, text, text, text, text, jsonb, jsonb, text[], jsonb),
  :"plans".sync_version(bigint, text, text, jsonb, jsonb, text[], jsonb),
  :"plans".remove_functions(timestamptz, integer),
  :"plans".begin_write(text),
  :"plans".read_tuples(text[]),
  :"plans".read_attributes(jsonb),
  :"plans".attribute_value(text, jsonb),
  :"plans".value_type(text),
  :"plans".shown_json(jsonb),
  :"plans".suggest(text, text[]),
  :"plans".not_among(text, text, text[]),
  :"plans".part_fault(text, boolean),
  :"plans".json_part_fault(jsonb, boolean),
  :"plans".text_fault(text),
  :"plans".tuple_part_fault(text, text, text, text, text, text),
  :"plans".attribute_part_fault(jsonb),
  :"plans".entity_types(bigint, text),
  :"plans".tuple_fault(bigint, text, text, text, text, text, text, text),
  :"plans".attribute_fault(bigint, text, text, text, text),
  :"plans".refuse_data(jsonb, text),
  :"plans".refuse_tuple_parts(text[], text[], text[], text[], text[], text[], text[]),
  :"plans".refuse_tuples(
    bigint, text, text[], text[], text[], text[], text[], text[], text[]
  ),
  :"plans".refuse_attributes(
    bigint, text, jsonb, text[], text[], text[], text[], jsonb[]
  ),
  :"plans".refuse_derived_elements(text, text, text, text[]),
  :"plans".refuse_unfit_rows(text, text, text[], text[], text[], text[], text[]),
  :"plans".token_code(text, bytea)
from public
