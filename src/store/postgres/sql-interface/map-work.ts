import { must } from "../../../base/assert.ts";
import { PembaError } from "../../../base/error.ts";
import { pause } from "../../../base/pause.ts";
import {
  differences,
  keepTable,
  lockTable,
  mayKeepTable,
  removeUngiven,
  strangeRows,
} from "../../../sql/application/map-compare.ts";
import { batchEnd, loadBatch, loadKeys } from "../../../sql/application/map-load.ts";
import { elementColumns, keyNames, type TableMap } from "../../../sql/application/table-map.ts";
import type { Connection } from "../connect/connection.ts";
import type { Database } from "../connect/database.ts";
import { booleanOf, numberOf, onlyRow, type Row, textOf } from "../connect/row.ts";
import { statementFile } from "../connect/statement-file.ts";
import { arrayLiteral, type ParameterValue } from "../connect/value.ts";
import { filled, type InterfaceNames } from "./interface-names.ts";

const keptFile = statementFile("interface/kept-maps.sql");

/** A map that triggers follow. */
export interface InstalledMap {
  readonly name: string;
  /** The name of the table. */
  readonly source: string;
  readonly definition: string;
}

/** Reads the maps of a database. */
export async function readKeptMaps(
  database: Database,
  names: InterfaceNames,
): Promise<readonly InstalledMap[]> {
  const rows = await database.query(filled(keptFile, { ...names }), []);
  return rows.map((row) => ({
    name: textOf(row, "name"),
    source: textOf(row, "source"),
    definition: textOf(row, "definition"),
  }));
}

/** What became of rows that were loaded. */
export interface LoadedRows {
  readonly rows: number;
  /** How many tuples and attributes were not there. */
  readonly made: number;
  /** How many rows are of tenants that do not exist. */
  readonly strange: number;
}

/** A tuple or an attribute that a row gives and that is not stored, or the other way round. */
export interface Difference {
  readonly isMissing: boolean;
  /** In the order of `elementColumns`. */
  readonly element: readonly string[];
  /** The key of the row, of a missing one. */
  readonly key: readonly string[];
}

/** A batch of rows holds up transactions that change them. It takes less than a second. */
const rowsPerBatch = 10_000;
/** A batch of differences holds up all that change the table. */
const differencesPerBatch = 1_000;

/** How long a batch waits for transactions of the application before it lets others go first. */
const lockWait = "set local lock_timeout = '250ms'";
const attemptsMax = 120;
const pauseMs = 500;

/**
 * Makes what all rows of a table give, in batches in the order of the key. Yields the sums after each
 * batch. What is there stays, so it can be run again. Fails as the database does.
 */
export async function* loadMap(
  connection: Connection,
  map: TableMap,
  names: InterfaceNames,
): AsyncGenerator<LoadedRows> {
  let sums: LoadedRows = { rows: 0, made: 0, strange: 0 };
  let before: readonly string[] = [];
  for (;;) {
    const isFirst = before.length === 0;
    const [end] = await reading(connection, batchEnd(map, rowsPerBatch, isFirst), before);
    if (end === undefined) return;
    const last = keyNames(map).map((name) => textOf(end, name));
    const row = await changed(connection, [], loadBatch(map, names, isFirst), [...before, ...last]);
    sums = {
      rows: sums.rows + numberOf(end, "rows"),
      made: sums.made + numberOf(row, "made"),
      strange: sums.strange + numberOf(row, "strange"),
    };
    yield sums;
    before = last;
  }
}

/**
 * Compares a table with what is stored, at one state of both, and yields the differences in batches. The
 * connection is in use until the end.
 */
export async function* compareMap(
  connection: Connection,
  map: TableMap,
  names: InterfaceNames,
): AsyncGenerator<readonly Difference[]> {
  const mayKeep = booleanOf(onlyRow(await connection.run(mayKeepTable(map))), "may_keep");
  await connection.script(comparing);
  try {
    if (mayKeep) await connection.script(keepTable(map));
    await connection.script(
      `declare pemba_differences no scroll cursor for ${differences(map, names)}`,
    );
    for (;;) {
      const rows = await connection.run(`fetch ${differencesPerBatch} from pemba_differences`);
      if (rows.length > 0) yield rows.map((row) => differenceOf(map, row));
      if (rows.length < differencesPerBatch) return;
    }
  } finally {
    if (connection.isOpen) await connection.script("rollback");
  }
}

/** How many rows of a table are of tenants that do not exist. */
export async function countStrangeRows(
  connection: Connection,
  map: TableMap,
  names: InterfaceNames,
): Promise<number> {
  const [row] = await reading(connection, strangeRows(map, names), []);
  return numberOf(must(row, "the statement returns one row"), "strange");
}

/**
 * Mends differences: makes what their rows give now, and deletes what no row gives now. Returns how many
 * tuples and attributes it changed. While it deletes, no transaction changes the table.
 */
export async function repairMap(
  connection: Connection,
  map: TableMap,
  names: InterfaceNames,
  found: readonly Difference[],
): Promise<number> {
  const missing = found.filter(({ isMissing }) => isMissing);
  const surplus = found.filter(({ isMissing }) => !isMissing);
  let count = 0;
  if (missing.length > 0) {
    const keys = keyNames(map).map((_, index) => missing.map(({ key }) => key[index] ?? ""));
    const row = await changed(connection, [], loadKeys(map, names), keys.map(arrayLiteral));
    count += numberOf(row, "made");
  }
  if (surplus.length > 0) {
    const lists = elementColumns.map((_, index) =>
      surplus.map(({ element }) => element[index] ?? ""),
    );
    const lock = [lockTable(map)];
    const row = await changed(connection, lock, removeUngiven(map, names), lists.map(arrayLiteral));
    count += numberOf(row, "removed");
  }
  return count;
}

/** Rows that row security hides are an error: they would look as if they were not there. */
const wholeTable = "set local row_security = off";

/** The whole of both is compared at once, and read from end to end. */
const comparing = [
  "begin isolation level repeatable read read only",
  wholeTable,
  "set local enable_seqscan = on",
  "set local enable_hashjoin = on",
  "set local enable_mergejoin = on",
  "set local enable_material = on",
  "set local plan_cache_mode = auto",
].join(";");

/** The rows of a statement that only reads. */
async function reading(
  connection: Connection,
  statement: string,
  values: readonly ParameterValue[],
): Promise<readonly Row[]> {
  await connection.script(`begin;${wholeTable}`);
  try {
    return await connection.run(statement, values);
  } finally {
    if (connection.isOpen) await connection.script("rollback");
  }
}

function differenceOf(map: TableMap, row: Row): Difference {
  const isMissing = booleanOf(row, "is_missing");
  return {
    isMissing,
    element: elementColumns.map((name) =>
      name === "is_attribute" ? String(booleanOf(row, name)) : textOf(row, name),
    ),
    key: isMissing ? keyNames(map).map((name) => textOf(row, name)) : [],
  };
}

/**
 * Runs a statement in a transaction, behind others, until nothing is in its way. Returns its row. Fails
 * with SERIALIZATION or CHANGE_BLOCKED when that takes minutes.
 */
async function changed(
  connection: Connection,
  before: readonly string[],
  statement: string,
  values: readonly ParameterValue[],
): Promise<Row> {
  for (let attempt = 1; ; attempt++) {
    try {
      await connection.script(["begin", lockWait, wholeTable, ...before].join(";"));
      const [row] = await connection.run(statement, values);
      await connection.script("commit");
      return must(row, "the statement returns one row");
    } catch (error) {
      if (connection.isOpen) await connection.script("rollback");
      const isHeld = error instanceof PembaError && error.kind === "aborted";
      if (!isHeld || attempt === attemptsMax) throw error;
      await pause(pauseMs, new AbortController().signal);
    }
  }
}
