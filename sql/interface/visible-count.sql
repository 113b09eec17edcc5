-- How many entities of a type a subject may do something on: `at_most + 1` if there are more than that.
create or replace function :"entry".visible_count(
  tenant text, entity_type text, permission text,
  subject_type text, subject_id text, at_most integer default 10000
)
returns integer
language plpgsql stable security definer parallel restricted cost 10000
set search_path to pg_catalog, pg_temp
as $$
declare
  place record;
  counted bigint;
  is_cut boolean;
  -- An id may be several candidates, and some are denied.
  candidates bigint := 2 * at_most::bigint + 50;
begin
  place := :"plans".locate(
    'visible', tenant collate "C", entity_type, permission, subject_type, ''
  );
  if at_most is null then
    raise exception using
      errcode = 'null_value_not_allowed',
      message = 'the argument `at_most` is null';
  end if;
  if at_most < 0 or at_most = 2147483647 then
    raise exception using
      errcode = 'invalid_parameter_value',
      message = format('the argument `at_most` is %s, expected 0 to 2147483646', at_most);
  end if;
  if subject_id is null then
    return 0;
  end if;
  loop
    execute format(
      'select
        count(*) filter (
          where case
            when r.id is null then false
            when r.verdict = 2 then true
            else %I.undecided($4, r.id, $5, $6, $2, $7)
          end
        ),
        count(*) filter (where r.id is null) > 0
      from %s($1, $2, $3) as r',
      :'plans', place.function
    )
    into counted, is_cut
    using place.tenant_number, subject_id, candidates, entity_type, permission, subject_type, '';
    if counted > at_most then
      return at_most + 1;
    end if;
    if not is_cut then
      return counted;
    end if;
    candidates := candidates * 4;
  end loop;
end
$$
