import type { Database } from "../connect/database.ts";
import { booleanOf, onlyRow, optionalTextOf } from "../connect/row.ts";
import { statementFile } from "../connect/statement-file.ts";
import { filled, type InterfaceNames } from "./interface-names.ts";

const questionFile = statementFile("interface/find-question.sql");
const anywhereFile = statementFile("interface/find-question-anywhere.sql");

/** A question about entities, asked by one subject. */
export interface ListQuestion {
  readonly entityType: string;
  readonly permission: string;
  readonly subjectType: string;
}

/** The same of one tenant. */
export interface PolicyQuestion extends ListQuestion {
  readonly tenant: string;
}

/** Why a question can be asked in SQL of no tenant now; undefined when it can of one. */
export async function unaskedQuestion(
  database: Database,
  names: InterfaceNames,
  { entityType, permission, subjectType }: ListQuestion,
): Promise<string | undefined> {
  const statement = filled(anywhereFile, { ...names });
  const rows = await database.query(statement, [entityType, permission, subjectType]);
  const found = onlyRow(rows);
  const asked = `\`${entityType}.${permission}@${subjectType}\``;
  if (!booleanOf(found, "is_known")) {
    return `${asked} cannot be asked in SQL of any tenant: check the names, then run \`pemba sql sync\``;
  }
  const obstacle = optionalTextOf(found, "obstacle");
  return obstacle === undefined ? undefined : `${asked} has no SQL: ${obstacle}`;
}

/** Why a question cannot be asked in SQL now; undefined when it can. */
export async function questionProblem(
  database: Database,
  names: InterfaceNames,
  { tenant, entityType, permission, subjectType }: PolicyQuestion,
): Promise<string | undefined> {
  const statement = filled(questionFile, { ...names });
  const rows = await database.query(statement, [tenant, entityType, permission, subjectType]);
  const found = onlyRow(rows);
  const asked = `\`${entityType}.${permission}@${subjectType}\``;
  if (!booleanOf(found, "has_tenant")) return `the tenant \`${tenant}\` does not exist`;
  if (!booleanOf(found, "is_known")) {
    return `${asked} cannot be asked in SQL of the tenant \`${tenant}\`: check the names, then run \`pemba sql sync\``;
  }
  const obstacle = optionalTextOf(found, "obstacle");
  return obstacle === undefined ? undefined : `${asked} has no SQL: ${obstacle}`;
}
