import { PembaError } from "../../base/error.ts";
import type { PlannedQuestions } from "../../store/postgres/sql-interface/planned-questions.ts";
import type { SqlInterface } from "../../store/postgres/sql-interface/sql-interface.ts";
import { warn } from "../output.ts";

/** A schema text, and the file from which it was read. */
export interface SchemaFile {
  readonly file: string;
  readonly text: string;
}

/**
 * Plans the questions of a schema, and warns of those that have no SQL. An error of the schema begins
 * with the name of the file.
 */
export async function planSchemaFile(
  sqlInterface: SqlInterface,
  { file, text }: SchemaFile,
): Promise<PlannedQuestions> {
  try {
    const planned = await sqlInterface.planned(text);
    for (const { question, obstacle } of planned.questions) {
      if (obstacle === undefined) continue;
      const { entityType, permission, subjectType, subjectRelation } = question;
      const subject = subjectRelation === "" ? subjectType : `${subjectType}#${subjectRelation}`;
      warn(`${file}: \`${entityType}.${permission}@${subject}\` has no SQL: ${obstacle}`);
    }
    return planned;
  } catch (error) {
    if (!(error instanceof PembaError) || error.kind !== "invalid_argument") throw error;
    throw new PembaError(error.code, `${file}:${error.plainMessage}`, { cause: error.cause });
  }
}
