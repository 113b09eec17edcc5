import { onDatabase } from "./connect/on-database.ts";
import { optionalTextOf, textOf } from "./connect/row.ts";
import { statementFile } from "./connect/statement-file.ts";

const makersStatement = statementFile("installation/makers.sql");

/**
 * What is to be said of the roles that may make objects beside Pemba's tables: statements of the service would
 * find some of these before the functions and operators of Postgres, and run them with their own rights.
 * Undefined where there are none. Fails as the database does.
 */
export async function makersWarning(url: string): Promise<string | undefined> {
  const rows = await onDatabase(url, async (database) => database.query(makersStatement, []));
  const [first] = rows;
  if (first === undefined) return undefined;
  const schema = textOf(first, "tables");
  const makers = rows.map((row) => optionalTextOf(row, "maker"));
  const [who, from] = makers.includes(undefined)
    ? ["every role", "`public`"]
    : [`another role (${makers.map((maker) => `\`${maker}\``).join(", ")})`, "it"];
  return `${who} may make objects in the schema \`${schema}\`, beside Pemba's tables, and so get the rights of Pemba: revoke \`create\` on the schema from ${from}`;
}
