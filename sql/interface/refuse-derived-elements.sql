-- Fails with PB006 when some of the elements that a call names are derived by maps, with all of these in
-- the detail. `labels` are as in `derived`; `list` is the name of the list in the call, and `part` that of
-- the part of an element that says it.
create or replace function :"plans".refuse_derived_elements(
  tenant text, list text, part text, labels text[]
)
returns void
language plpgsql stable
set search_path to pg_catalog, pg_temp
as $$
declare
  faults_max constant integer := 100;
  faults jsonb;
begin
  select jsonb_agg(
      jsonb_build_object('field', f.field, 'message', f.message) order by f.place
    )
    into faults
    from (
      select w.place, format('%s[%s].%s', list, w.place - 1, part) as field,
        format('`%s` is derived from the table %s, change its rows', w.label, m.source) as message
      from unnest(labels) with ordinality as w(label, place)
      join :"tables".derived as d
        on d.label = w.label and d.tenant in ('', refuse_derived_elements.tenant)
      join :"tables".maps as m on m.name = d.map
      order by w.place
      limit faults_max
    ) as f;
  if faults is not null then
    raise exception using
      errcode = 'PB006',
      message = format(
        'ERROR_CODE_RELATION_DERIVED: %s: %s', faults #>> '{0,field}', faults #>> '{0,message}'
      ),
      detail = faults,
      hint = 'nothing of the call was done';
  end if;
end
$$
