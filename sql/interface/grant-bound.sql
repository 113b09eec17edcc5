grant execute on function
  :"entry".my_may(text, text, text, text),
  :"entry".my_may_of(text, text[], text, text),
  :"entry".my_visible(text, text, text),
  :"entry".my_visible_count(text, text, integer, text)
to :"role"
