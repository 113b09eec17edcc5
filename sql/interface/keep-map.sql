-- Notes a map and what it derives, in place of what was noted before: a list of objects with the columns
-- of `derived`. `tenant` is the id of its tenant, or empty.
create or replace function :"entry".keep_map(
  name text, source text, definition jsonb, tenant text, derived jsonb
)
returns void
language plpgsql volatile security definer
set search_path to pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  other record;
begin
  -- Two maps that are made at the same time must not derive the same.
  lock table :"tables".maps in share row exclusive mode;
  insert into :"tables".maps (name, source, definition)
    values (keep_map.name, keep_map.source, keep_map.definition)
    on conflict (name) do update
      set source = excluded.source, definition = excluded.definition, made_at = now();
  delete from :"tables".derived as d where d.map = keep_map.name;
  select d.label, d.map
    into other
    from :"tables".derived as d
    where d.label in (select w.label from jsonb_to_recordset(keep_map.derived) as w(label text))
      and (d.tenant = keep_map.tenant or '' in (d.tenant, keep_map.tenant))
    order by d.label
    limit 1;
  if found then
    raise exception using
      errcode = 'unique_violation',
      message = format('the map `%s` derives `%s` already', other.map, other.label),
      hint = 'drop that map, or leave this out of one of them';
  end if;
  insert into :"tables".derived (
    label, tenant, map, entity_type, relation, subject_type, subject_relation, attribute
  )
    select w.label, keep_map.tenant, keep_map.name, w.entity_type, w.relation, w.subject_type,
      w.subject_relation, w.attribute
    from jsonb_to_recordset(keep_map.derived) as w(
      label text, entity_type text, relation text, subject_type text, subject_relation text,
      attribute text
    );
end
$$
