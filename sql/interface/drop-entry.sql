drop function if exists
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
  :"entry".subject()
