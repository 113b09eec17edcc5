-- For functions of `pemba sql list`: those of some entities that a subject is allowed, in their order,
-- the first `wanted` of them. With all that the subject reaches this takes less than a check of each
-- entity; if `states` is null, each one is checked.
create or replace function :"entry".list_scan(
  tenant text, entity_type text, permission text, subject_type text, subject_id text,
  states integer[], ids text[], levels numeric[], sures boolean[], entity_ids text[], wanted integer
)
returns text[]
language plpgsql stable security definer parallel restricted cost 10000
set search_path to pg_catalog, pg_temp
as $$
declare
  place record;
  verdicts integer[];
  allowed text[] := '{}';
begin
  place := :"plans".locate(
    case when states is null then 'may_of' else 'scan' end,
    tenant collate "C", entity_type, permission, subject_type, ''
  );
  if states is null then
    execute format(
      'select array_agg(coalesce(v.verdict, 0) order by e.place)
      from unnest($2) with ordinality as e(id, place)
      left join %s($1, $2, $3) as v on v.id = e.id',
      place.function
    )
    into verdicts
    using place.tenant_number, entity_ids, subject_id;
  else
    execute format('select %s($1, $2, $3, $4, $5, $6, $7)', place.function)
      into verdicts
      using place.tenant_number, subject_id, states, ids, levels, sures, entity_ids;
  end if;
  for number in 1 .. coalesce(cardinality(verdicts), 0) loop
    exit when cardinality(allowed) >= wanted;
    if (
      case verdicts[number]
        when 2 then true
        when 1 then :"plans".undecided(
          entity_type, entity_ids[number], permission, subject_type, subject_id, ''
        )
        else false
      end
    ) then
      allowed := allowed || entity_ids[number];
    end if;
  end loop;
  return allowed;
end
$$
