import { onDatabase } from "./connect/on-database.ts";
import { booleanOf, optionalTextOf, type Row, textOf } from "./connect/row.ts";
import { statementFile } from "./connect/statement-file.ts";

const makersStatement = statementFile("installation/makers.sql");

/**
 * What is to be said of the roles that may make objects where statements of the service look names up: they would
 * find some of these before the functions and operators of Postgres, and run them with their own rights. Fails as
 * the database does.
 */
export async function makersWarnings(url: string): Promise<readonly string[]> {
  const rows = await onDatabase(url, async (database) => database.query(makersStatement, []));
  const bySchema = Map.groupBy(rows, (row) => textOf(row, "schema"));
  return [...bySchema].map(([schema, makers]) => warningOf(schema, makers));
}

function warningOf(schema: string, rows: readonly Row[]): string {
  const makers = rows.map((row) => optionalTextOf(row, "maker"));
  const [who, from] = makers.includes(undefined)
    ? ["every role", "`public`"]
    : [`another role (${makers.map((maker) => `\`${maker}\``).join(", ")})`, "it"];
  const hasTables = rows.some((row) => booleanOf(row, "has_tables"));
  const [place, otherwise] = hasTables
    ? ["beside Pemba's tables", ""]
    : [
        "which is in the search path",
        ", or set `search_path` of Pemba's role to the schema of its tables",
      ];
  return `${who} may make objects in the schema \`${schema}\`, ${place}, and so get the rights of Pemba: revoke \`create\` on the schema from ${from}${otherwise}`;
}
