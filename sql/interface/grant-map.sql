grant execute on function
  :"entry".create_derived_tuples(
    text, text, text, text[], text[], text[], text[], text[], boolean
  ),
  :"entry".delete_derived_tuples(text, text, text, text[], text[], text[], text[], text[]),
  :"entry".set_derived_attributes(text, text, text, text[], text[], text[], text[], boolean),
  :"entry".delete_derived_attributes(text, text, text, text[], text[]),
  :"entry".delete_all_derived(text),
  :"entry".keep_map(text, text, jsonb, text, jsonb),
  :"entry".drop_map(text)
to :"role"
