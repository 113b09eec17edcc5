import { quote } from "../../base/quote.ts";
import { listStatements } from "../../sql/list/list-function.ts";
import { keyTypes } from "../../sql/list/list-key.ts";
import type { OrderColumn } from "../../sql/list/list-order.ts";
import { dropText, indexText } from "../../sql/list/list-planning.ts";
import { orderedRows } from "../../sql/list/list-rows.ts";
import { type List, parametersOf, tableName, usualBounds } from "../../sql/list/list.ts";
import { numberParameters } from "../../sql/list/named-parameters.ts";
import type { Connection } from "../../store/postgres/connect/connection.ts";
import { listSettings } from "../../store/postgres/sql-interface/function-settings.ts";
import type { WrittenColumn } from "./list-names.ts";
import {
  type ApplicationTable,
  conditionTypes,
  planAs,
  planOfQuery,
  readTable,
} from "./list-table.ts";
import { flagError } from "./sql-settings.ts";

/** The values of the flags, read. */
export interface AskedList {
  /** As SQL spells it. */
  readonly table: string;
  readonly key: string;
  readonly order: readonly WrittenColumn[];
  readonly name: string;
  readonly where: string;
  readonly question: List["question"];
}

/** The statements that make a list, and what is doubtful about them. */
export interface PrintedList {
  readonly text: string;
  readonly warnings: readonly string[];
}

/**
 * The SQL of a list, from what the database knows of its table. Fails with INVALID_ARGUMENT, which
 * names a flag, when the table, its indexes or a flag are not fit.
 *
 * @param entry the database schema of the functions that applications call
 */
export async function printList(
  connection: Connection,
  entry: string,
  asked: AskedList,
  bounds = usualBounds,
): Promise<PrintedList> {
  const { key, name, question, where } = asked;
  const table = await readTable(connection, { table: asked.table, key, entry, name });
  if (table === undefined) throw flagError("table", `${quote(asked.table)} does not exist`);
  refuseTable(table, key);
  const order = orderOfTable(table, asked.order, key);
  const from = tableName({ table });
  const settings = { ...listSettings, enable_sort: "off" };
  await planAs(connection, table.schema, settings);
  const before = parametersOf({ order, whereParameters: [] });
  const numbered = numberParameters(where, before.length + 1);
  const conditions = await whereParametersOf(connection, from, before, numbered);
  const common = {
    entry,
    name,
    table,
    order,
    question,
    where: numbered.text,
    whereParameters: conditions,
    settings,
    bounds,
  };
  const types = parametersOf(common).map(({ type }) => type);
  const plan = async (isIndexed: boolean) => {
    const query = orderedRows(common, isIndexed);
    if (query === undefined) throw flagError("order", "has too many columns that may be null");
    return await planOfQuery(connection, query, types);
  };
  const indexed = where === "" ? undefined : await plan(true);
  const isWhereIndexed = indexed !== undefined && !indexed.isFiltered && indexed.sorts === "no";
  const { sorts } = isWhereIndexed ? indexed : await plan(false);
  if (sorts === "all")
    throw flagError("order", `no index has this order: ${indexText(from, order)}`);
  return {
    text: [...replaced(table, common), listStatements({ ...common, isWhereIndexed })].join("\n"),
    warnings: [
      ...(table.isUnique
        ? []
        : [
            `--key: ${quote(key)} has no unique index of its own, so make sure that no two rows of a list have the same one`,
          ]),
      ...(sorts === "no"
        ? []
        : [
            `--order: no index has all of this order, so rows that begin alike are sorted: ${indexText(from, order)}`,
          ]),
    ],
  };
}

/** A function that has other parameters would stay beside the new one. */
function replaced(
  table: ApplicationTable,
  made: Pick<List, "entry" | "name" | "order" | "whereParameters">,
): string[] {
  const other = table.functions.find(({ isList }) => !isList);
  if (other !== undefined)
    throw flagError("name", `${quote(made.name)} is the name of another function`);
  return table.functions.map((each) => dropText(made.entry, made.name, each.arguments));
}

/** Why some kinds of relations cannot have lists. */
const otherKinds: ReadonlyMap<string, string> = new Map([
  ["v", "is a view, which has no indexes: name its table, and write its condition as --where"],
  ["m", "is a materialized view, whose columns may all be null: name its table"],
  ["f", "is a foreign table, which has no indexes here"],
]);

function refuseTable(table: ApplicationTable, key: string): void {
  if (!["r", "p"].includes(table.kind)) {
    throw flagError("table", otherKinds.get(table.kind) ?? "is not a table");
  }
  const column = table.columns.get(key);
  if (column === undefined) throw flagError("key", `the table has no column ${quote(key)}`);
  if (!keyTypes.includes(column.type)) {
    throw flagError(
      "key",
      `the type ${column.type} cannot be an id, expected ${keyTypes.join(", ")}`,
    );
  }
  if (column.isNullable)
    throw flagError("key", `the column ${quote(key)} may be null, expected \`not null\``);
  if (!table.isIndexed) throw flagError("key", `no index begins with the column ${quote(key)}`);
}

function orderOfTable(
  table: ApplicationTable,
  written: readonly WrittenColumn[],
  key: string,
): readonly OrderColumn[] {
  const place = written.findIndex(({ name }) => name === key);
  if (place >= 0 && place < written.length - 1) {
    throw flagError("order", `the key ${quote(key)} decides, so no column follows it`);
  }
  if (new Set(written.map(({ name }) => name)).size < written.length) {
    throw flagError("order", "names a column twice");
  }
  const last = { name: key, isDescending: false, hasNullsFirst: false };
  return (place < 0 ? [...written, last] : written).map((each) => {
    const column = table.columns.get(each.name);
    if (column === undefined)
      throw flagError("order", `the table has no column ${quote(each.name)}`);
    if (!column.isBuiltin) {
      throw flagError(
        "order",
        `the column ${quote(each.name)} has the type ${column.type}, expected an enumeration or a type of Postgres's own`,
      );
    }
    return { ...each, type: column.type, isNullable: column.isNullable };
  });
}

async function whereParametersOf(
  connection: Connection,
  from: string,
  before: ReturnType<typeof parametersOf>,
  { text, names: found }: ReturnType<typeof numberParameters>,
): Promise<List["whereParameters"]> {
  if (text === "") return [];
  const taken = found.find((name) => before.some((each) => each.name === name));
  if (taken !== undefined)
    throw flagError("where", `\`$${taken}\` is a parameter of each list, name it otherwise`);
  const types = await conditionTypes(
    connection,
    from,
    text,
    before.map(({ type }) => type),
    found.length,
  );
  return found.map((name, index) => ({ name, type: types[index] ?? "text" }));
}
