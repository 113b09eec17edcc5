-- The entities of a type on which a subject may do something, as an array, for policies.
create or replace function :"entry".visible_ids(
  tenant text, entity_type text, permission text,
  subject_type text, subject_id text, subject_relation text default ''
)
returns text[]
language plpgsql stable security definer parallel restricted cost 1000
set search_path to pg_catalog, pg_temp
as $$
declare
  ids text[] := array(
    select v.id
    from :"entry".visible(
      tenant, entity_type, permission, subject_type, subject_id, subject_relation
    ) as v(id)
    limit :'visible_max'::bigint + 1
  );
begin
  if cardinality(ids) > :'visible_max'::bigint then
    raise exception using
      errcode = 'program_limit_exceeded',
      message = format(
        '`%s:%s` sees more than %s entities of `%s`',
        subject_type, subject_id, :'visible_max', entity_type
      ),
      hint = 'use a list function (`pemba sql list`), or raise `database.sql.visible_max`';
  end if;
  return ids;
end
$$
