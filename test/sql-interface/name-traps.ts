import type postgres from "postgres";

/** The error of a trap that ran with the rights of another role. */
export const trapped = "TR001";

/**
 * Makes what a role can make that may create in a schema: functions, operators and aggregates that
 * fit calls of Pemba better than those that are meant. Each fails with `trapped` if it runs as another role.
 * Returns how many there are. They go with what the role owns.
 */
export async function setTraps(
  attacker: postgres.Sql,
  role: string,
  schema = "public",
): Promise<number> {
  await attacker.unsafe(`
    do $traps$
    declare
      look constant text := $look$
        if current_user <> ${literal(role)} then
          raise exception 'a trap ran as %', current_user using errcode = '${trapped}';
        end if;
      $look$;
      trap record;
    begin
      for trap in ${trapsQuery} loop
        begin
          execute format(
            'create function ${schema}.%I(%s) returns %s language plpgsql as %L',
            trap.name, trap.arguments, trap.result,
            format('begin %s return%s; end', look, case when trap.is_set then '' else ' null' end)
          );
          if trap.operator <> '' then
            execute format(
              'create operator ${schema}.%s (%s function = public.%I)', trap.operator, trap.sides, trap.name
            );
          elsif trap.aggregate <> '' then
            execute format(
              'create aggregate ${schema}.%I(%s) (sfunc = ${schema}.%I, stype = %s)',
              trap.aggregate, trap.sides, trap.name, trap.result
            );
          end if;
        exception
          -- Some of them exist, and some cannot be.
          when others then null;
        end;
      end loop;
    end
    $traps$
  `);
  const [row] = await attacker<{ made: number }[]>`
    select count(*)::integer as made from pg_proc where proowner = current_user::regrole
  `;
  return row?.made ?? 0;
}

const kinds = ["text", "bigint", "integer", "xid8", "jsonb", "oid"];

/** A type of a function of Postgres, with a kind in place of any. */
function typeText(type: string): string {
  return `case
    when ${type}::regtype::text in ('anyelement', 'anynonarray', 'anycompatible', 'anycompatiblenonarray')
      then kinds.kind
    when ${type}::regtype::text in ('anyarray', 'anycompatiblearray') then kinds.kind || '[]'
    else format_type(${type}, -1)
  end`;
}

const ofKinds = `unnest('{${kinds.join(",")}}'::text[]) as kinds(kind)`;
const anyType = `'^any(element|array|nonarray|compatible|compatiblearray|compatiblenonarray)$'`;

const trapsQuery = `
  select p.proname::text as name,
    (
      select string_agg(${typeText("a.type")}, ', ' order by a.place)
      from unnest(p.proargtypes::oid[]) with ordinality as a(type, place)
    ) as arguments,
    case when p.proretset then 'setof ' else '' end || ${typeText("p.prorettype")} as result,
    p.proretset as is_set, '' as operator, '' as aggregate, '' as sides
  from pg_catalog.pg_proc as p, ${ofKinds}
  where p.pronamespace = 'pg_catalog'::regnamespace and p.prokind = 'f' and p.provariadic = 0
    and exists (
      select from unnest(p.proargtypes::oid[]) as a(type) where a.type::regtype::text ~ ${anyType}
    )
  union all
  select 'trap_operator_' || o.oid,
    ${typeText("o.oprleft")} || ', ' || ${typeText("o.oprright")}, ${typeText("o.oprresult")}, false,
    o.oprname::text, '',
    format('leftarg = %s, rightarg = %s,', ${typeText("o.oprleft")}, ${typeText("o.oprright")})
  from pg_catalog.pg_operator as o, ${ofKinds}
  where o.oprkind = 'b'
    and (o.oprleft::regtype::text ~ ${anyType} or o.oprright::regtype::text ~ ${anyType})
  union all
  select 'trap_operator_' || o.oid || '_text', format_type(o.oprleft, -1) || ', text',
    format_type(o.oprresult, -1), false, o.oprname::text, '',
    format('leftarg = %s, rightarg = text,', format_type(o.oprleft, -1))
  from pg_catalog.pg_operator as o
  where o.oprname in ('#>>', '#>', '->', '->>', '-', '||', '=', '<>') and o.oprkind = 'b'
  union all
  select 'trap_state', s.state || ', ' || kinds.kind, s.state, false, '', s.aggregate, kinds.kind
  from ${ofKinds},
    (values ('jsonb', 'jsonb_agg'), ('bigint', 'count'), ('text[]', 'array_agg')) as s(state, aggregate)
  union all
  select v.name, v.given || repeat(', ' || kinds.kind, v.times), v.result, false, '', '', ''
  from ${ofKinds}, (
    select 'format' as name, 'text' as given, 'text' as result, t.times from generate_series(1, 4) as t(times)
    union all
    select 'concat_ws', 'text', 'text', t.times from generate_series(1, 8) as t(times)
    union all
    select 'jsonb_build_object', 'text', 'jsonb', t.times from generate_series(1, 5) as t(times)
  ) as v
  union all
  select p.proname::text,
    (
      select string_agg(
        case
          when a.place <> changed.place then format_type(a.type, -1)
          when a.type = 'bigint'::regtype then 'integer'
          else 'text'
        end,
        ', ' order by a.place
      )
      from unnest(p.proargtypes::oid[]) with ordinality as a(type, place)
    ),
    case when p.proretset then 'setof ' else '' end || format_type(p.prorettype, -1),
    p.proretset, '', '', ''
  from pg_catalog.pg_proc as p, generate_series(1, p.pronargs) as changed(place)
  where p.pronamespace = 'public'::regnamespace
`;

function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
