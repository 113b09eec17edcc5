import { must } from "../../base/assert.ts";
import { dollarQuoted, quotedName, quotedText } from "../text/quote.ts";
import { orderedRows, rowsOfIds, rowsPerMark, rowWithId } from "./list-rows.ts";
import { firstPlace, type List, type ParameterText, parametersOf, tableName } from "./list.ts";

/** The most rows of a page. */
const wantedMax = 10_000;

/** The function with the types of its parameters. */
export function listSignature(
  list: Pick<List, "entry" | "name" | "order" | "whereParameters">,
): string {
  const types = parametersOf(list).map(({ type }) => type);
  return `${quotedName(list.entry)}.${quotedName(list.name)}(${types.join(", ")})`;
}

/** The statements that make the function, without semicolons. Needs an order that has a query. */
export function listStatements(list: List): readonly string[] {
  const { entry, name } = list;
  const parameters = parametersOf(list);
  const signature = listSignature(list);
  const { entityType, permission, subjectType } = list.question;
  const settings = Object.entries(list.settings).map(
    ([key, value]) => `set ${key} to ${quotedText(value)}`,
  );
  const definition = [
    `create or replace function ${quotedName(entry)}.${quotedName(name)}(`,
    parameters.map((each) => `  ${quotedName(each.name)} ${each.type}`).join(",\n"),
    ")",
    `returns setof ${tableName(list)}`,
    "language plpgsql stable security definer parallel restricted rows 20",
    // Others may be allowed to make functions in the schema of the table, and would get the rights of its owner.
    "set search_path to pg_catalog, pg_temp",
    ...settings,
    `as ${dollarQuoted(functionBody(list), "list")}`,
  ].join("\n");
  return [
    definition,
    `revoke execute on function ${signature} from public`,
    `comment on function ${signature} is ${quotedText(
      `Rows that a subject may ${permission}: ${entityType}, for ${subjectType}`,
    )}`,
  ];
}

/** What the texts of the body have in common. */
interface BodyTexts {
  /** The parameter that says how many rows are wanted. */
  readonly wanted: string;
  readonly entry: string;
  /** The first arguments of the functions that lists call. */
  readonly asked: string;
  readonly parameter: ParameterText;
}

/** The arguments that say what the subject reaches. */
const reached = "states, reached, levels, sures";

function functionBody(list: List): string {
  const { entityType, permission, subjectType } = list.question;
  const question = [entityType, permission, subjectType].map(quotedText).join(", ");
  const names: BodyTexts = {
    wanted: `$${firstPlace + list.order.length}`,
    entry: quotedName(list.entry),
    asked: `$1, ${question}, $2`,
    parameter: (number) =>
      parametersOf(list)[number - 1]?.isCollatable === true
        ? `pemba_list.value_${number}`
        : `$${number}`,
  };
  return [
    declarations(list),
    "begin",
    refusals(list, names),
    rounds(list, names),
    result(list, names),
    "end",
  ].join("\n");
}

/**
 * Parameters and variables have the collation of the arguments of a call, which may be those of any
 * columns. A variable with the usual collation is compared by that of the column, as a constant is.
 */
const usual = 'collate pg_catalog."default"';

function declarations(list: List): string {
  const { bounds } = list;
  const values = parametersOf(list).map(({ type, isCollatable }, index) =>
    isCollatable && index >= firstPlace - 1
      ? `  value_${index + 1} constant ${type} ${usual} := $${index + 1};\n`
      : "",
  );
  return `#variable_conflict use_column
<<pemba_list>>
declare
${values.join("")}\
  -- What the subject reaches on the way to the rows; null while that is not known as a whole.
  states integer[];
  reached text[];
  levels numeric[];
  sures boolean[];
  -- Rows in the order of the list: all of the table, or those with the ids of the candidates.
  rows_in_order refcursor;
  rows_of_ids refcursor;
  source refcursor;
  candidates text[] ${usual};
  most constant integer[] := '${arrayText([...bounds.candidates, undefined])}';
  limits constant integer[] := '${arrayText(bounds.scanned)}';
  -- What may still be read in this round; null: all.
  remaining integer;
  batch integer;
  ids text[] ${usual};
  id text ${usual};
  fits boolean;
  judged integer := 0;
  is_end boolean := false;
  page text[] ${usual} := '{}';`;
}

function rounds(list: List, names: BodyTexts): string {
  const { wanted, entry, asked } = names;
  const { bounds } = list;
  return `  select r.* into ${reached} from ${entry}.list_reach(${asked}, ${bounds.reached + 1}) as r;
  if $2 is null or ${wanted} = 0 then
    return;
  end if;
  if cardinality(states) > ${bounds.reached} then
    states := null;
  end if;
  <<rounds>>
  for round in 0 .. ${bounds.candidates.length + 1} loop
    if round = 0 then
      -- A subject that is allowed most rows may reach so much that some checks take less.
      continue when states is not null;
    elsif states is null then
      select r.* into ${reached} from ${entry}.list_reach(${asked}, null::integer) as r;
    end if;
${opened(list, names)}
${judgedRows(names)}`;
}

/** Opens the rows of this round. */
function opened(list: List, { wanted, entry, asked, parameter }: BodyTexts): string {
  const { bounds } = list;
  return `    candidates := null;
    if round > 0 then
      candidates := ${entry}.list_few(${asked}, ${reached}, most[round]);
    end if;
    if candidates is not null then
      if cardinality(candidates) > ${bounds.each} and cardinality(candidates) * 40.0 > (
        select c.reltuples from pg_catalog.pg_class as c
        where c.oid = ${quotedText(tableName(list))}::regclass and c.reltuples > 0
      ) then
        perform set_config('enable_seqscan', 'on', true);
        open rows_of_ids no scroll for
${rowsOfIds(list, "pemba_list.candidates", "whole", parameter)};
        perform set_config('enable_seqscan', 'off', true);
      else
        open rows_of_ids no scroll for
${rowsOfIds(list, "pemba_list.candidates", "each", parameter)};
      end if;
      source := rows_of_ids;
      remaining := null;
      batch := ${wanted};
      page := '{}';
    else
      if rows_in_order is null then
        open rows_in_order no scroll for
${must(orderedRows(list, list.isWhereIndexed, parameter), "the order has a query")};
      end if;
      source := rows_in_order;
      remaining := limits[round + 1];
      batch := case when round = 0 then 8 else 100 end;
    end if;`;
}

/** Reads rows of this round and judges them, and ends the rounds. */
function judgedRows({ wanted, entry, asked }: BodyTexts): string {
  return `    loop
      ids := '{}';
      while cardinality(ids) < batch loop
        exit when remaining <= 0;
        fetch source into id, fits;
        is_end := not found;
        exit when is_end;
        remaining := remaining - case when fits then 20 else ${rowsPerMark} end;
        if fits then
          ids := ids || id;
        end if;
      end loop;
      if cardinality(ids) > 0 then
        judged := judged + cardinality(ids);
        page := page || ${entry}.list_scan(
          ${asked}, ${reached}, ids, ${wanted} - cardinality(page)
        );
      end if;
      exit rounds when is_end or cardinality(page) >= ${wanted};
      exit when remaining <= 0 or round = 0 and cardinality(page) * 4 < judged;
      batch := least(batch * 3, case when round = 0 then 50 else 3000 end);
    end loop;
  end loop;`;
}

function result(list: List, { parameter }: BodyTexts): string {
  const alias = quotedName(list.table.name);
  return `  if rows_in_order is not null then
    close rows_in_order;
  end if;
  if rows_of_ids is not null then
    close rows_of_ids;
  end if;
  return query
    select ${alias}.*
    from unnest(pemba_list.page) with ordinality as pemba_row(id, place)
    cross join lateral (
      select *
      ${rowWithId(list, "pemba_row.id", parameter)}
      offset 0
    ) as ${alias}
    order by pemba_row.place;`;
}

function refusals({ order, whereParameters }: List, { wanted }: BodyTexts): string {
  const names = parametersOf({ order, whereParameters }).slice(firstPlace - 1);
  const place = (index: number): string => `$${firstPlace + index}`;
  const nameOf = (index: number): string =>
    quotedText(must(names[index], "each column has a parameter").name);
  const last = order.length - 1;
  const key = place(last);
  const others = order.slice(0, last);
  const nulls = others.flatMap(({ isNullable }, index) =>
    isNullable ? [] : [`when ${key} is not null and ${place(index)} is null then ${nameOf(index)}`],
  );
  const given = others.map((_, index) => place(index)).join(", ");
  const cases = [
    `when ${wanted} is null then 'wanted'`,
    ...nulls,
    ...(given === ""
      ? []
      : [`when ${key} is null and num_nonnulls(${given}) > 0 then ${nameOf(last)}`]),
  ];
  return `  -- Without a row before, all of its values are null. The key is never null in a row.
  id := case
    ${cases.join("\n    ")}
  end;
  if id is not null then
    raise exception using
      errcode = 'null_value_not_allowed',
      message = format('the argument \`%s\` is null', id);
  end if;
  if ${wanted} < 0 or ${wanted} > ${wantedMax} then
    raise exception using
      errcode = 'invalid_parameter_value',
      message = format('the argument \`wanted\` is %s, expected 0 to ${wantedMax}', ${wanted});
  end if;`;
}

function arrayText(values: readonly (number | undefined)[]): string {
  return `{${values.map((value) => (value === undefined ? "null" : String(value))).join(",")}}`;
}
