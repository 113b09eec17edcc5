import { must } from "../../base/assert.ts";
import { quote } from "../../base/quote.ts";
import { listSignature, listStatements } from "../../sql/list/list-function.ts";
import { keyTypes } from "../../sql/list/list-key.ts";
import type { OrderColumn } from "../../sql/list/list-order.ts";
import { dropText, indexText } from "../../sql/list/list-planning.ts";
import { orderedRows } from "../../sql/list/list-rows.ts";
import {
  byNumber,
  conditionOf,
  type List,
  ownNames,
  parametersOf,
  tableName,
  type UnplannedList,
  usualBounds,
} from "../../sql/list/list.ts";
import { type NamedCondition, readCondition } from "../../sql/list/named-parameters.ts";
import { quotedName } from "../../sql/text/quote.ts";
import type { Connection } from "../../store/postgres/connect/connection.ts";
import {
  type ApplicationTable,
  readTable,
  tableNames,
} from "../../store/postgres/sql-interface/application-table.ts";
import { listSettings } from "../../store/postgres/sql-interface/function-settings.ts";
import type { WrittenColumn } from "./list-names.ts";
import {
  conditionTypes,
  functionsNamed,
  type ReadingConnection,
  planAs,
  planOfQuery,
  type QueryPlan,
} from "./list-table.ts";
import { migrationText } from "./migration-text.ts";
import { flagError } from "./sql-settings.ts";
import { tableNameOf } from "./table-name.ts";

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
  reading: ReadingConnection,
  entry: string,
  asked: AskedList,
  bounds = usualBounds,
): Promise<PrintedList> {
  const { connection } = reading;
  const { key, name, question } = asked;
  const table = await tableOf(reading, asked.table);
  refuseTable(table, key);
  const order = orderOfTable(table, asked.order, key);
  const settings = { ...listSettings, enable_sort: "off" };
  await planAs(connection, settings);
  const where = whereOf(asked.where, order);
  const common = {
    entry,
    name,
    table,
    order,
    question,
    where,
    whereParameters: await whereParametersOf(connection, { table, order, where }),
    settings,
    bounds,
  };
  const { isWhereIndexed, sorts } = await planOf(connection, common);
  const index = indexText(tableName(common), order);
  if (sorts === "all") throw flagError("order", `no index has this order: ${index}`);
  const dropped = await replaced(connection, common);
  return {
    text: migrationText(
      [`Rows of ${tableName(common)} page by page, for \`pemba sql list\`.`],
      [...dropped, ...listStatements({ ...common, isWhereIndexed })],
    ),
    warnings: [
      ...(isUnique(table, key)
        ? []
        : [
            `--key: ${quote(key)} has no unique index of its own, so make sure that no two rows of a list have the same one`,
          ]),
      ...(sorts === "no"
        ? []
        : [
            `--order: no index has all of this order, so rows that begin alike are sorted: ${index}`,
          ]),
      ...(dropped.length === 0
        ? []
        : [
            `--name: ${quote(name)} has other parameters now, so it is dropped first: grant the right to call it again`,
          ]),
      ...foreignTypes(table, asked.where),
    ],
  };
}

async function tableOf(
  { connection, schemas }: ReadingConnection,
  written: string,
): Promise<ApplicationTable> {
  const parts = tableNameOf(written);
  if (parts === undefined) {
    throw flagError("table", `${quote(written)} is no name of a table, such as app.documents`);
  }
  const table = await readTable(
    async (statement, values) => await connection.run(statement, values),
    tableNames(parts, schemas),
  );
  if (table === undefined) throw flagError("table", `${quote(written)} does not exist`);
  return table;
}

/** Whether an index finds the rows that meet the condition, and whether rows have to be sorted. */
async function planOf(
  connection: Connection,
  list: UnplannedList,
): Promise<{ readonly isWhereIndexed: boolean; readonly sorts: QueryPlan["sorts"] }> {
  const types = parametersOf(list).map(({ type }) => type);
  const plan = async (isIndexed: boolean): Promise<QueryPlan> => {
    const query = orderedRows(list, isIndexed, byNumber);
    if (query === undefined) throw flagError("order", "has too many columns that may be null");
    return await planOfQuery(connection, query, types);
  };
  const indexed = list.where === undefined ? undefined : await plan(true);
  const isWhereIndexed = indexed !== undefined && !indexed.isFiltered && indexed.sorts === "no";
  const { sorts } = isWhereIndexed ? indexed : await plan(false);
  return { isWhereIndexed, sorts };
}

/** What drops functions of the name. One that has other parameters would stay beside the new one. */
async function replaced(connection: Connection, list: UnplannedList): Promise<readonly string[]> {
  const { entry, name } = list;
  const functions = await functionsNamed(connection, {
    entry,
    name,
    table: tableName(list),
    signature: listSignature(list),
    parameters: parametersOf(list).map((each) => each.name),
  });
  if (functions.some(({ isList }) => !isList))
    throw flagError("name", `${quote(name)} is the name of another function`);
  return functions
    .filter(({ isSame }) => !isSame)
    .map((each) => dropText(entry, name, each.arguments));
}

/** Why some kinds of relations cannot have lists. */
const otherKinds: ReadonlyMap<string, string> = new Map([
  ["v", "is a view, which has no indexes: name its table, and write its condition as --where"],
  ["m", "is a materialized view, whose columns may all be null: name its table"],
  ["f", "is a foreign table, which has no indexes here"],
]);

function refuseTable(table: ApplicationTable, key: string): void {
  if (ownNames.includes(table.name))
    throw flagError("table", `${quote(table.name)} is a name that lists use themselves`);
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
  if (!table.lookups.some(({ column }) => column === key))
    throw flagError("key", `no index begins with the column ${quote(key)}`);
}

/** Parts of a table that others inherit from have indexes of their own. */
function isUnique({ lookups, kind, hasParts }: ApplicationTable, key: string): boolean {
  const isWhole = kind === "p" || !hasParts;
  return isWhole && lookups.some(({ column, isUnique }) => column === key && isUnique);
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
    const { type, isNullable, isCollatable } = column;
    return { ...each, type, isNullable, isCollatable };
  });
}

/** The condition, if there is one. */
function whereOf(text: string, order: readonly OrderColumn[]): NamedCondition | undefined {
  if (text === "") return undefined;
  const read = readCondition(text);
  if (read.kind === "problem") throw flagError("where", read.problem);
  const others = parametersOf({ order, whereParameters: [] });
  const taken = read.names.find((name) => others.some((each) => each.name === name));
  if (taken !== undefined)
    throw flagError("where", `\`$${taken}\` is a parameter of each list, name it otherwise`);
  return read;
}

/** Warns of columns for which Postgres may take an operator of another type, when that of their own is not looked up. */
function foreignTypes({ columns }: ApplicationTable, where: string): readonly string[] {
  const words = new Set(where.match(/[\w$\u0080-\uffff]+/g)?.map((word) => word.toLowerCase()));
  return [...columns]
    .filter(
      ([name, { isBuiltin }]) =>
        !isBuiltin && (words.has(name) || where.includes(quotedName(name))),
    )
    .map(
      ([name, { type }]) =>
        `--where: ${quote(name)} has the type ${type}: write the operators of this type with their schema, such as operator(app.=)`,
    );
}

async function whereParametersOf(
  connection: Connection,
  list: Pick<List, "table" | "order"> & { readonly where: NamedCondition | undefined },
): Promise<List["whereParameters"]> {
  const { where, order } = list;
  const text = conditionOf(list, byNumber);
  if (where === undefined || text === undefined) return [];
  const before = parametersOf({ order, whereParameters: [] }).map(({ type }) => type);
  const count = where.names.length;
  const types = await conditionTypes(connection, tableName(list), text, before, count);
  return types.map((each, index) => ({
    ...each,
    name: must(where.names[index], "each parameter has a name"),
  }));
}
