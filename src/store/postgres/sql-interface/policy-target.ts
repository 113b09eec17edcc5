import { must } from "../../../base/assert.ts";
import type { Database } from "../connect/database.ts";
import { booleanOf, optionalTextOf, textOf } from "../connect/row.ts";
import { statementFile } from "../connect/statement-file.ts";
import { filled, type InterfaceNames } from "./interface-names.ts";

const tableStatement = statementFile("interface/policy-table.sql");
const questionFile = statementFile("interface/find-question.sql");

/** A relation of the application that may get a policy. */
export interface PolicyTable {
  readonly schema: string;
  readonly name: string;
  /** As `pg_class.relkind` has it. */
  readonly kind: string;
  /** The type of the key, below domains; undefined when there is no such column. */
  readonly keyType: string | undefined;
  /** Texts of the key are equal only if they are the same. */
  readonly isExact: boolean;
}

/** Reads a table, which is named as SQL names it, and one of its columns. Undefined without a table. */
export async function readPolicyTable(
  database: Database,
  table: string,
  column: string,
): Promise<PolicyTable | undefined> {
  const [row] = await database.query(tableStatement, [table, column]);
  return (
    row && {
      schema: textOf(row, "schema"),
      name: textOf(row, "name"),
      kind: textOf(row, "kind"),
      keyType: optionalTextOf(row, "type"),
      isExact: booleanOf(row, "is_exact"),
    }
  );
}

/** A question about entities, asked by one subject of a tenant. */
export interface PolicyQuestion {
  readonly tenant: string;
  readonly entityType: string;
  readonly permission: string;
  readonly subjectType: string;
}

/** Why a question cannot be asked in SQL now; undefined when it can. */
export async function questionProblem(
  database: Database,
  names: InterfaceNames,
  { tenant, entityType, permission, subjectType }: PolicyQuestion,
): Promise<string | undefined> {
  const statement = filled(questionFile, { ...names });
  const rows = await database.query(statement, [tenant, entityType, permission, subjectType]);
  const found = must(rows[0], "the statement returns one row");
  const asked = `\`${entityType}.${permission}@${subjectType}\``;
  if (!booleanOf(found, "has_tenant")) return `the tenant \`${tenant}\` does not exist`;
  if (!booleanOf(found, "is_known")) {
    return `${asked} cannot be asked in SQL of the tenant \`${tenant}\`: check the names, then run \`pemba sql sync\``;
  }
  const obstacle = optionalTextOf(found, "obstacle");
  return obstacle === undefined ? undefined : `${asked} has no SQL: ${obstacle}`;
}
