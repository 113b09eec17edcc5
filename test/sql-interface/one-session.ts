import { Client, DatabaseError, type QueryResultRow } from "pg";

import type { Statement } from "./random-applications.ts";

/** The server is away, or ended before its answer: what was asked for may have been done. */
export class LostServer extends Error {}

/** A connection for one transaction. */
export interface Session {
  readonly statement: Statement;
  /** Sends a text without values. */
  readonly run: (text: string) => Promise<void>;
}

/** What the server says when it ends, and before it is ready. */
const absentCodes = ["57P01", "57P02", "57P03"];

/**
 * Gives a new connection to `work`, and closes it then. Fails with `LostServer`, or with an error of the
 * server. `postgres`, the other driver, ends the process when a connection is lost within its `begin`.
 */
export async function withSession<T>(
  url: string,
  role: string,
  work: (session: Session) => Promise<T>,
): Promise<T> {
  const options = `-c role=${role} -c deadlock_timeout=20ms`;
  const client = new Client({ connectionString: url, options });
  // Those who wait for an answer are told as well.
  client.on("error", () => {});
  try {
    await answered(client.connect());
    return await work({
      statement: async <Row extends object>(
        text: TemplateStringsArray,
        ...values: readonly (string | readonly string[])[]
      ) => {
        const numbered = text.map((part, index) => (index === 0 ? part : `$${index}${part}`));
        const query = client.query<Row & QueryResultRow>(numbered.join(""), [...values]);
        return (await answered(query)).rows;
      },
      run: async (text) => {
        await answered(client.query(text));
      },
    });
  } finally {
    await client.end().catch(() => undefined);
  }
}

async function answered<T>(query: Promise<T>): Promise<T> {
  try {
    return await query;
  } catch (error) {
    if (error instanceof DatabaseError && !absentCodes.includes(error.code ?? "")) throw error;
    throw new LostServer("the server gave no answer", { cause: error });
  }
}

/** The SQLSTATE of an error of the server; undefined for other errors. */
export function stateOfError(error: unknown): string | undefined {
  return error instanceof DatabaseError ? error.code : undefined;
}
