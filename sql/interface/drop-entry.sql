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
  :"entry".subject()
