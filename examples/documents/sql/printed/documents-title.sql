-- Rows of "app"."documents" page by page, for `pemba sql list`.

begin;

create or replace function "pemba"."documents_title"(
  "tenant" text,
  "subject" text,
  "after_title" text,
  "after_id" bigint,
  "wanted" integer,
  "search" text
)
returns setof "app"."documents"
language plpgsql stable security definer parallel restricted rows 20
set search_path to pg_catalog, pg_temp
set plan_cache_mode to 'force_generic_plan'
set jit to 'off'
set enable_hashjoin to 'off'
set enable_mergejoin to 'off'
set enable_seqscan to 'off'
set enable_bitmapscan to 'off'
set enable_material to 'off'
set enable_memoize to 'off'
set enable_indexscan to 'on'
set enable_indexonlyscan to 'on'
set enable_nestloop to 'on'
set enable_sort to 'off'
set enable_hashagg to 'on'
set max_parallel_workers_per_gather to '0'
as $list$
#variable_conflict use_column
<<pemba_list>>
declare
  value_3 constant text collate pg_catalog."default" := $3;
  value_6 constant text collate pg_catalog."default" := $6;
  -- What the subject reaches on the way to the rows; null while that is not known as a whole.
  states integer[];
  reached text[];
  levels numeric[];
  sures boolean[];
  -- Rows in the order of the list: all of the table, or those with the ids of the candidates.
  rows_in_order refcursor;
  rows_of_ids refcursor;
  source refcursor;
  candidates text[] collate pg_catalog."default";
  most constant integer[] := '{2500,20000,160000,null}';
  limits constant integer[] := '{30000,6000,20000,200000}';
  -- What may still be read in this round; null: all.
  remaining integer;
  batch integer;
  ids text[] collate pg_catalog."default";
  id text collate pg_catalog."default";
  fits boolean;
  judged integer := 0;
  is_end boolean := false;
  page text[] collate pg_catalog."default" := '{}';
begin
  -- Without a row before, all of its values are null. The key is never null in a row.
  id := case
    when $5 is null then 'wanted'
    when $4 is not null and $3 is null then 'after_title'
    when $4 is null and num_nonnulls($3) > 0 then 'after_id'
  end;
  if id is not null then
    raise exception using
      errcode = 'null_value_not_allowed',
      message = format('the argument `%s` is null', id);
  end if;
  if $5 < 0 or $5 > 10000 then
    raise exception using
      errcode = 'invalid_parameter_value',
      message = format('the argument `wanted` is %s, expected 0 to 10000', $5);
  end if;
  select r.* into states, reached, levels, sures from "pemba".list_reach($1, 'document', 'view', 'user', $2, 301) as r;
  if $2 is null or $5 = 0 then
    return;
  end if;
  if cardinality(states) > 300 then
    states := null;
  end if;
  <<rounds>>
  for round in 0 .. 4 loop
    if round = 0 then
      -- A subject that is allowed most rows may reach so much that some checks take less.
      continue when states is not null;
    elsif states is null then
      select r.* into states, reached, levels, sures from "pemba".list_reach($1, 'document', 'view', 'user', $2, null::integer) as r;
    end if;
    candidates := null;
    if round > 0 then
      candidates := "pemba".list_few($1, 'document', 'view', 'user', $2, states, reached, levels, sures, most[round]);
    end if;
    if candidates is not null then
      if cardinality(candidates) > 2500 and cardinality(candidates) * 40.0 > (
        select c.reltuples from pg_catalog.pg_class as c
        where c.oid = '"app"."documents"'::regclass and c.reltuples > 0
      ) then
        perform set_config('enable_seqscan', 'on', true);
        open rows_of_ids no scroll for
select pemba_row.id, true as fits
from (
  select pemba_row.*
  from (
    select "documents"."id"::text collate "C" as id, "documents"."title" as order_1, "documents"."id" as order_2
    from "app"."documents" as "documents"
    where ((("documents"."title", "documents"."id") > (pemba_list.value_3, $4))
  or ($4 is null))
    and (
strpos(lower(title), lower(pemba_list.value_6)) > 0
)
    offset 0
  ) as pemba_row
  where (
    pemba_row.id in (
      select pemba_candidate.id collate "C" from unnest(pemba_list.candidates) as pemba_candidate(id)
    )
  ) is true
  offset 0
) as pemba_row
order by pemba_row.order_1, pemba_row.order_2;
        perform set_config('enable_seqscan', 'off', true);
      else
        open rows_of_ids no scroll for
select pemba_row.id, true as fits
from (
  select pemba_row.*
  from unnest(pemba_list.candidates) as pemba_candidate(id)
  cross join lateral (
    select pemba_candidate.id, "documents"."title" as order_1, "documents"."id" as order_2
    from "app"."documents" as "documents"
where "documents"."id" = case when pemba_candidate.id ~ '^(0|-?[1-9][0-9]{0,18})$' then case when pemba_candidate.id::numeric between -9223372036854775808 and 9223372036854775807 then pemba_candidate.id::bigint end end
and "documents"."id"::text collate "C" = pemba_candidate.id
and (
strpos(lower(title), lower(pemba_list.value_6)) > 0
)
    and ((("documents"."title", "documents"."id") > (pemba_list.value_3, $4))
  or ($4 is null))
    offset 0
  ) as pemba_row
  offset 0
) as pemba_row
order by pemba_row.order_1, pemba_row.order_2;
      end if;
      source := rows_of_ids;
      remaining := null;
      batch := $5;
      page := '{}';
    else
      if rows_in_order is null then
        open rows_in_order no scroll for
select pemba_row.id, pemba_row.fits
from (
select pemba_row.id, pemba_row.fits, row_number() over () as place
from (
(
  select "documents"."id"::text as id, (
strpos(lower(title), lower(pemba_list.value_6)) > 0
) is true as fits
  from "app"."documents" as "documents"
  where ("documents"."title", "documents"."id") > (pemba_list.value_3, $4)
  order by "documents"."title", "documents"."id"
)
union all
(
  select "documents"."id"::text as id, (
strpos(lower(title), lower(pemba_list.value_6)) > 0
) is true as fits
  from "app"."documents" as "documents"
  where $4 is null
  order by "documents"."title", "documents"."id"
)
) as pemba_row
) as pemba_row
where pemba_row.fits or pemba_row.place % 500 = 0;
      end if;
      source := rows_in_order;
      remaining := limits[round + 1];
      batch := case when round = 0 then 8 else 100 end;
    end if;
    loop
      ids := '{}';
      while cardinality(ids) < batch loop
        exit when remaining <= 0;
        fetch source into id, fits;
        is_end := not found;
        exit when is_end;
        remaining := remaining - case when fits then 20 else 500 end;
        if fits then
          ids := ids || id;
        end if;
      end loop;
      if cardinality(ids) > 0 then
        judged := judged + cardinality(ids);
        page := page || "pemba".list_scan(
          $1, 'document', 'view', 'user', $2, states, reached, levels, sures, ids, $5 - cardinality(page)
        );
      end if;
      exit rounds when is_end or cardinality(page) >= $5;
      exit when remaining <= 0 or round = 0 and cardinality(page) * 4 < judged;
      batch := least(batch * 3, case when round = 0 then 50 else 3000 end);
    end loop;
  end loop;
  if rows_in_order is not null then
    close rows_in_order;
  end if;
  if rows_of_ids is not null then
    close rows_of_ids;
  end if;
  return query
    select "documents".*
    from unnest(pemba_list.page) with ordinality as pemba_row(id, place)
    cross join lateral (
      select *
      from "app"."documents" as "documents"
where "documents"."id" = case when pemba_row.id ~ '^(0|-?[1-9][0-9]{0,18})$' then case when pemba_row.id::numeric between -9223372036854775808 and 9223372036854775807 then pemba_row.id::bigint end end
and "documents"."id"::text collate "C" = pemba_row.id
and (
strpos(lower(title), lower(pemba_list.value_6)) > 0
)
      offset 0
    ) as "documents"
    order by pemba_row.place;
end
$list$;

revoke execute on function "pemba"."documents_title"(text, text, text, bigint, integer, text) from public;

comment on function "pemba"."documents_title"(text, text, text, bigint, integer, text) is 'Rows that a subject may view: document, for user';

commit;
