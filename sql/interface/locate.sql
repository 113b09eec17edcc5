-- Finds the plan function of a kind for a question, under the head of the tenant that the calling
-- statement sees. A caller passes the tenant as `collate "C"`: an argument of an application has the
-- collation of its column, which cannot be compared with that of another column.
create or replace function :"plans".locate(
  kind text, tenant text, entity_type text, permission text, subject_type text,
  subject_relation text, out tenant_number bigint, out function text
)
language plpgsql stable parallel restricted
set search_path to pg_catalog, pg_temp
set plan_cache_mode to force_generic_plan
set jit to off
set enable_seqscan to off
set enable_bitmapscan to off
set enable_hashjoin to off
set enable_mergejoin to off
as $$
declare
  place record;
  asked text;
  own_relation constant text := case subject_relation when '...' then '' else subject_relation end;
  missing text := case
    when tenant is null then 'tenant'
    when entity_type is null then 'entity_type'
    when permission is null then 'permission'
    when subject_type is null then 'subject_type'
    when subject_relation is null then 'subject_relation'
  end;
begin
  if missing is not null then
    raise exception using
      errcode = 'null_value_not_allowed',
      message = format('the argument `%s` is null', missing);
  end if;
  select t.number, t.head_version, q.version, q.plans ->> locate.kind as hash, q.obstacle
    into place
    from :"tables".tenants as t
    left join :"plans".questions as q
      on q.tenant = t.number
      and q.version = t.head_version
      and q.entity_type = locate.entity_type
      and q.permission = locate.permission
      and q.subject_type = locate.subject_type
      and q.subject_relation = own_relation
    where t.id = locate.tenant;
  if not found then
    raise exception using
      errcode = 'PB004',
      message = format('the tenant `%s` does not exist', tenant);
  end if;
  tenant_number := place.number;
  if place.hash is not null then
    function := format('%I.%I', :'plans', kind || '_' || place.hash);
    return;
  end if;
  asked := format(
    '%s.%s@%s%s', entity_type, permission, subject_type,
    case when own_relation = '' then '' else '#' || own_relation end
  );
  if place.version is null then
    raise exception using
      errcode = 'PB001',
      message = format('`%s` cannot be asked in SQL of the tenant `%s`', asked, tenant),
      detail = case
        when place.head_version is null then 'the tenant has no schema'
        else format(
          'the schema version %s has no such question, or was not synced', place.head_version
        )
      end,
      hint = 'check the names; then run `pemba sql sync`, or add the question to `database.sql.questions`';
  end if;
  raise exception using
    errcode = 'PB002',
    message = format('`%s` has no SQL', asked),
    detail = place.obstacle,
    hint = 'ask the service, or change the schema: `pemba plan` shows the plan';
end
$$
