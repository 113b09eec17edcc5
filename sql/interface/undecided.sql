-- What becomes of an answer that is neither yes nor no: an error, or a denial where the setting
-- `pemba.undecided` says so.
create or replace function :"plans".undecided(
  entity_type text, entity_id text, permission text,
  subject_type text, subject_id text, subject_relation text
)
returns boolean
language plpgsql stable parallel restricted
set search_path to pg_catalog, pg_temp
as $$
declare
  wanted text := coalesce(current_setting('pemba.undecided', true), '');
begin
  if wanted = 'deny' then
    return false;
  end if;
  if wanted not in ('', 'error') then
    raise exception using
      errcode = 'invalid_parameter_value',
      message = format('`pemba.undecided` is `%s`, expected `error` or `deny`', wanted);
  end if;
  raise exception using
    errcode = 'PB003',
    message = format(
      'there is no answer whether `%s:%s%s` may `%s` on `%s:%s`',
      subject_type, subject_id,
      case when subject_relation = '' then '' else '#' || subject_relation end,
      permission, entity_type, entity_id
    ),
    detail = format(
      'a path has more than %s hops, a rule fails, or an attribute is stored with another type than the schema has',
      :'depth'
    ),
    hint = '`pemba explain` says which; set `pemba.undecided` to `deny` to take this for a denial';
end
$$
