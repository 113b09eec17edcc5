import { PembaError } from "../../base/error.ts";
import { onDatabase } from "../../store/postgres/connect/on-database.ts";
import { readInterface } from "../../store/postgres/sql-interface/install.ts";
import {
  type ListQuestion,
  unaskedQuestion,
} from "../../store/postgres/sql-interface/policy-target.ts";

/**
 * Why the question of a list can be asked of no tenant now; undefined when it can of one. A list can be printed
 * before there is anything to ask. Fails when the database does not answer.
 *
 * @param entry the database schema of the functions that applications call
 */
export async function unaskedProblem(
  url: string,
  entry: string,
  question: ListQuestion,
): Promise<string | undefined> {
  try {
    const { names, installed } = await readInterface(url, entry);
    if (installed === undefined) {
      return "the SQL interface is not installed: run `pemba sql enable` before the statements";
    }
    return await onDatabase(
      url,
      async (database) => await unaskedQuestion(database, names, question),
    );
  } catch (error) {
    if (error instanceof PembaError && error.code === "MIGRATION") return error.plainMessage;
    throw error;
  }
}
