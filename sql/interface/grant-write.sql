grant execute on function
  :"entry".write_tuple(text, text, text, text, text, text, text),
  :"entry".write_tuples(text, text[]),
  :"entry".delete_tuples(text, text[]),
  :"entry".delete_entity(text, text, text),
  :"entry".write_attributes(text, jsonb),
  :"entry".delete_attributes(text, text[]),
  :"entry".token(text),
  :"entry".announce()
to :"role"
