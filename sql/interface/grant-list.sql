grant execute on function
  :"entry".list_reach(text, text, text, text, text, integer),
  :"entry".list_few(
    text, text, text, text, text, integer[], text[], numeric[], boolean[], integer
  ),
  :"entry".list_scan(
    text, text, text, text, text, integer[], text[], numeric[], boolean[], text[], integer
  )
to :"role"
