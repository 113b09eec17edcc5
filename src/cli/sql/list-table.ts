import { must } from "../../base/assert.ts";
import {
  conditionName,
  conditionText,
  planningText,
  queryTexts,
} from "../../sql/list/list-planning.ts";
import type { ListParameter } from "../../sql/list/list.ts";
import { openRoute } from "../../store/postgres/connect/connection-route.ts";
import type { Connection } from "../../store/postgres/connect/connection.ts";
import { booleanOf, textOf } from "../../store/postgres/connect/row.ts";
import { statementFile } from "../../store/postgres/connect/statement-file.ts";
import { arrayLiteral } from "../../store/postgres/connect/value.ts";
import { flagError } from "./sql-settings.ts";

const typesStatement = statementFile("interface/list-types.sql");
const functionsStatement = statementFile("interface/list-functions.sql");

/** A connection in a transaction that changes nothing. */
export interface ReadingConnection {
  readonly connection: Connection;
  /** Where tables of applications are looked up whose names have no schema. */
  readonly schemas: readonly string[];
}

/** Runs work in a transaction that changes nothing. Fails as the database does. */
export async function readingDatabase<T>(
  url: string,
  work: (reading: ReadingConnection) => Promise<T>,
): Promise<T> {
  const { first, schemas } = await openRoute({ url, timeoutMs: 30_000, warn: () => {} });
  try {
    await first.run("begin read only");
    return await work({ connection: first, schemas });
  } finally {
    await first.close();
  }
}

/** A function that has the name of a list. */
interface NamedFunction {
  /** As a drop of the function takes them. */
  readonly arguments: string;
  /** It returns rows of the table. */
  readonly isList: boolean;
  /** It has the parameters of the list. */
  readonly isSame: boolean;
}

/**
 * The functions that have the name of a list on a table, which is named as SQL names it. The search path
 * of the transaction is empty then.
 */
export async function functionsNamed(
  connection: Connection,
  made: {
    readonly entry: string;
    readonly name: string;
    readonly table: string;
    /** The function with the types of its parameters. */
    readonly signature: string;
    readonly parameters: readonly string[];
  },
): Promise<readonly NamedFunction[]> {
  const { entry, name, table, signature, parameters } = made;
  // So that the types of arguments come with their schemas.
  await connection.run("set local search_path to ''");
  const values = [entry, name, table, signature, arrayLiteral(parameters)];
  const rows = await connection.run(functionsStatement, values);
  return rows.map((row) => ({
    arguments: textOf(row, "arguments"),
    isList: booleanOf(row, "is_list"),
    isSame: booleanOf(row, "is_same"),
  }));
}

/** What the statements of the function are planned under. */
export async function planAs(
  connection: Connection,
  settings: Readonly<Record<string, string>>,
): Promise<void> {
  await connection.script(planningText(settings));
}

/**
 * The types of the parameters that a condition on the rows of a table has beside the known ones, in
 * their order. Fails with INVALID_ARGUMENT when it is no condition.
 */
export async function conditionTypes(
  connection: Connection,
  from: string,
  where: string,
  known: readonly string[],
  count: number,
): Promise<readonly Omit<ListParameter, "name">[]> {
  const types = [...known, ...Array.from({ length: count }, () => "unknown")];
  try {
    await connection.run(conditionText(from, where, types));
  } catch (error) {
    const said = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    throw flagError("where", `is not a condition on the rows: ${messageOf(said)}`);
  }
  const rows = await connection.run(typesStatement, [conditionName]);
  return rows.slice(known.length).map((row) => ({
    type: textOf(row, "type"),
    isCollatable: booleanOf(row, "is_collatable"),
  }));
}

/** The server quotes the text, which may have several lines. */
function messageOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return message.replaceAll(/\s+/g, " ");
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
