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
  :"entry".subject(),
  :"plans".locate(text, text, text, text, text, text),
  :"plans".undecided(text, text, text, text, text, text),
  :"plans".context_data(),
  :"plans".missing_functions(text[]),
  :"plans".keep_function(text, text, text),
  :"plans".make_functions(jsonb),
  :"plans".put_questions(bigint, text, text, jsonb),
  :"plans".write_schema(text, text, text, text, text, jsonb, text[], jsonb),
  :"plans".sync_version(bigint, text, text, jsonb, text[], jsonb),
  :"plans".remove_functions(timestamptz, integer)
from public
