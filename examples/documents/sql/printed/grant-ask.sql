-- The role can ask for every tenant and every subject: it should be that of an application's
-- server, which knows for which tenant and subject it asks.

begin;

grant usage on schema "pemba" to "documents_app";

grant execute on function
  "pemba".may(text, text, text, text, text, text, text),
  "pemba".may_of(text, text, text[], text, text, text, text),
  "pemba".visible(text, text, text, text, text, text),
  "pemba".visible_ids(text, text, text, text, text, text),
  "pemba".visible_count(text, text, text, text, text, integer),
  "pemba".who(text, text, text, text, text, text),
  "pemba".subject()
to "documents_app";

commit;
