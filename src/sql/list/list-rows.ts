import { must } from "../../base/assert.ts";
import { quotedName } from "../text/quote.ts";
import { keyOf } from "./list-key.ts";
import { directionOf, orderBy, rangesAfter } from "./list-order.ts";
import {
  conditionOf,
  firstPlace,
  keyColumn,
  type ParameterText,
  tableName,
  type UnplannedList,
} from "./list.ts";

/** Of the rows that do not fit, one of so many is among those of `orderedRows`. */
export const rowsPerMark = 500;

/**
 * The query of the rows of the table in order, with the columns (id, fits). A condition that no index
 * serves is not waited for: of the rows that do not meet it some come as well, so that it is seen how
 * many are read. Undefined if the order has too many columns that may be null.
 */
export function orderedRows(
  list: UnplannedList,
  isWhereIndexed: boolean,
  parameter: ParameterText,
): string | undefined {
  const { order } = list;
  const alias = quotedName(list.table.name);
  const condition = conditionOf(list, parameter);
  const fits = condition === undefined || isWhereIndexed ? "true" : `${condition} is true`;
  const queries = rangesOf(list, parameter)?.map((range) =>
    [
      `  select ${keyColumn(list)}::text as id, ${fits} as fits`,
      `  from ${tableName(list)} as ${alias}`,
      `  where ${range}`,
      ...(condition !== undefined && isWhereIndexed ? [`  and ${condition}`] : []),
      `  order by ${orderBy(order, alias)}`,
    ].join("\n"),
  );
  const all = queries?.map((query) => `(\n${query}\n)`).join("\nunion all\n");
  if (all === undefined || condition === undefined || isWhereIndexed) return all;
  return `select pemba_row.id, pemba_row.fits
from (
select pemba_row.id, pemba_row.fits, row_number() over () as place
from (
${all}
) as pemba_row
) as pemba_row
where pemba_row.fits or pemba_row.place % ${rowsPerMark} = 0`;
}

/**
 * The query of the rows with ids of an array, sorted, with the columns (id, fits). `each` looks for the
 * row of each id. `whole` reads the table, which takes less if the ids are many.
 */
export function rowsOfIds(
  list: UnplannedList,
  ids: string,
  way: "each" | "whole",
  parameter: ParameterText,
): string {
  const { order } = list;
  const alias = quotedName(list.table.name);
  const condition = conditionOf(list, parameter);
  const ranges = must(rangesOf(list, parameter), "an order with a query has ranges");
  const values = order.map(
    ({ name }, index) => `${alias}.${quotedName(name)} as order_${index + 1}`,
  );
  const sorted = order.map((each, index) => `pemba_row.order_${index + 1}${directionOf(each)}`);
  const isBehind = `(${ranges.map((range) => `(${range})`).join("\n  or ")})`;
  const rows =
    way === "each"
      ? `  select pemba_row.*
  from unnest(${ids}) as pemba_candidate(id)
  cross join lateral (
    select pemba_candidate.id, ${values.join(", ")}
    ${rowWithId(list, "pemba_candidate.id", parameter)}
    and ${isBehind}
    offset 0
  ) as pemba_row`
      : // Within, that the condition is asked before the ids are looked up.
        `  select pemba_row.*
  from (
    select ${keyColumn(list)}::text collate "C" as id, ${values.join(", ")}
    from ${tableName(list)} as ${alias}
    where ${isBehind}${condition === undefined ? "" : `\n    and ${condition}`}
    offset 0
  ) as pemba_row
  where (
    pemba_row.id in (
      select pemba_candidate.id collate "C" from unnest(${ids}) as pemba_candidate(id)
    )
  ) is true`;
  return `select pemba_row.id, true as fits
from (
${rows}
  offset 0
) as pemba_row
order by ${sorted.join(", ")}`;
}

/** The `from` and the `where` that find the row of an id. */
export function rowWithId(list: UnplannedList, id: string, parameter: ParameterText): string {
  const { order } = list;
  const condition = conditionOf(list, parameter);
  const alias = quotedName(list.table.name);
  const key = must(order.at(-1), "an order ends with the key");
  const column = keyColumn(list);
  const value = must(keyOf(key.type, id), "the key has a type of the table");
  return [
    `from ${tableName(list)} as ${alias}`,
    `where ${column} = ${value}`,
    // Not all texts that convert to a value are the text of that value.
    `and ${column}::text collate "C" = ${id}`,
    ...(condition === undefined ? [] : [`and ${condition}`]),
  ].join("\n");
}

function rangesOf(list: UnplannedList, parameter: ParameterText): readonly string[] | undefined {
  const before = (index: number): string => parameter(firstPlace + index);
  return rangesAfter(list.order, before, quotedName(list.table.name));
}
