grant execute on function
  :"entry".may(text, text, text, text, text, text, text),
  :"entry".may_of(text, text, text[], text, text, text, text),
  :"entry".visible(text, text, text, text, text, text),
  :"entry".visible_ids(text, text, text, text, text, text),
  :"entry".visible_count(text, text, text, text, text, integer),
  :"entry".who(text, text, text, text, text, text),
  :"entry".subject()
to :"role"
