import { assert, must } from "../../base/assert.ts";
import { PembaError } from "../../base/error.ts";
import {
  conditionName,
  conditionText,
  planningText,
  queryTexts,
} from "../../sql/list/list-planning.ts";
import { openRoute } from "../../store/postgres/connect/connection-route.ts";
import type { Connection } from "../../store/postgres/connect/connection.ts";
import { booleanOf, type Row, textOf } from "../../store/postgres/connect/row.ts";
import { statementFile } from "../../store/postgres/connect/statement-file.ts";

const tableStatement = statementFile("interface/list-table.sql");
const typesStatement = statementFile("interface/list-types.sql");

/** A table of the application. */
export interface ApplicationTable {
  readonly schema: string;
  readonly name: string;
  /** As `pg_class.relkind` has it. */
  readonly kind: string;
  readonly columns: ReadonlyMap<string, TableColumn>;
  /** An index begins with the key. */
  readonly isIndexed: boolean;
  /** An index has the key alone and is unique. */
  readonly isUnique: boolean;
  /** Functions that have the name of the list. */
  readonly functions: readonly {
    readonly arguments: string;
    /** It returns rows of the table. */
    readonly isList: boolean;
  }[];
}

export interface TableColumn {
  readonly type: string;
  readonly isNullable: boolean;
  /** The type, or that below a domain, is an enumeration or one that Postgres brings. */
  readonly isBuiltin: boolean;
}

/** Runs work in a transaction that changes nothing. Fails as the database does. */
export async function readingDatabase<T>(
  url: string,
  work: (connection: Connection) => Promise<T>,
): Promise<T> {
  const { first } = await openRoute({ url, timeoutMs: 30_000, warn: () => {} });
  try {
    await first.run("begin read only");
    return await work(first);
  } finally {
    await first.close();
  }
}

/** Reads a table; undefined if there is none. */
export async function readTable(
  connection: Connection,
  asked: {
    readonly table: string;
    readonly key: string;
    readonly entry: string;
    readonly name: string;
  },
): Promise<ApplicationTable | undefined> {
  const { table, key, entry, name } = asked;
  const [row] = await connection.run(tableStatement, [table, key, entry, name]);
  if (row === undefined) return undefined;
  return {
    schema: textOf(row, "schema"),
    name: textOf(row, "name"),
    kind: textOf(row, "kind"),
    columns: new Map(
      listIn(row, "columns").map((each) => [
        textOf(each, "name"),
        {
          type: textOf(each, "type"),
          isNullable: booleanOf(each, "is_nullable"),
          isBuiltin: booleanOf(each, "is_builtin"),
        },
      ]),
    ),
    isIndexed: booleanOf(row, "is_indexed"),
    isUnique: booleanOf(row, "is_unique"),
    functions: listIn(row, "functions").map((each) => ({
      arguments: textOf(each, "arguments"),
      isList: booleanOf(each, "is_list"),
    })),
  };
}

function listIn(row: Row, key: string): readonly Row[] {
  const list: unknown = row[key];
  assert(Array.isArray(list), "the column is a list");
  return list;
}

/** What the statements of the function are planned under. */
export async function planAs(
  connection: Connection,
  schema: string,
  settings: Readonly<Record<string, string>>,
): Promise<void> {
  await connection.script(planningText(schema, settings));
}

/**
 * The types of parameters that a condition on the rows of a table has beside the known ones, in their
 * order. Fails with INVALID_ARGUMENT when it is no condition.
 */
export async function conditionTypes(
  connection: Connection,
  from: string,
  where: string,
  known: readonly string[],
  count: number,
): Promise<readonly string[]> {
  const types = [...known, ...Array.from({ length: count }, () => "unknown")];
  try {
    await connection.run(conditionText(from, where, types));
  } catch (cause) {
    throw new PembaError("INVALID_ARGUMENT", "--where: is not a condition on the rows", { cause });
  }
  const [row] = await connection.run(typesStatement, [conditionName]);
  const found: unknown = JSON.parse(textOf(must(row, "the statement is prepared"), "types"));
  assert(Array.isArray(found), "types are a list");
  return found.slice(known.length).map(String);
}

/** What a plan of a query does. */
export interface QueryPlan {
  readonly sorts: "no" | "within ties" | "all";
  /** Rows are read that do not meet a condition. */
  readonly isFiltered: boolean;
}

/** The plan of a query whose parameters have these types, for any values. */
export async function planOfQuery(
  connection: Connection,
  query: string,
  types: readonly string[],
): Promise<QueryPlan> {
  const { prepare, explain, end } = queryTexts(query, types);
  await connection.run(prepare);
  const rows = await connection.run(explain);
  await connection.run(end);
  const plan: unknown = Object.values(must(rows[0], "a plan has a row"))[0];
  const nodes = nodesIn(typeof plan === "string" ? JSON.parse(plan) : plan);
  const kinds = nodes.map((node) => node["Node Type"]);
  return {
    sorts: kinds.includes("Sort")
      ? "all"
      : kinds.includes("Incremental Sort")
        ? "within ties"
        : "no",
    isFiltered: nodes.some((node) => "Filter" in node),
  };
}

function nodesIn(value: unknown): readonly Readonly<Record<string, unknown>>[] {
  if (typeof value !== "object" || value === null) return [];
  const own = "Node Type" in value ? [{ ...value }] : [];
  return [...own, ...Object.values(value).flatMap(nodesIn)];
}
