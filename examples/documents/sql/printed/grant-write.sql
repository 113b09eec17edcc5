-- The role can write tuples and attributes of every tenant: it should be that of an application's
-- server, and not one that runs SQL of others.

begin;

grant usage on schema "pemba" to "documents_app";

grant execute on function
  "pemba".write_tuple(text, text, text, text, text, text, text),
  "pemba".write_tuples(text, text[]),
  "pemba".delete_tuples(text, text[]),
  "pemba".delete_entity(text, text, text),
  "pemba".write_attributes(text, jsonb),
  "pemba".delete_attributes(text, text[]),
  "pemba".token(text),
  "pemba".announce()
to "documents_app";

commit;
