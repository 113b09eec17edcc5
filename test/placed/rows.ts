/** What a server has that may be killed at any time. */
import postgres from "postgres";

import { eventually } from "./within.ts";

/** The driver's own question about types would fail unheard if the server is killed at that moment. */
export function connectTo(url: string): postgres.Sql {
  return postgres(url, { max: 1, fetch_types: false, onnotice: () => {} });
}

/** Asks a server, once it answers. */
export async function rowsOf(
  url: string,
  statement: string,
  ...values: readonly string[]
): Promise<readonly object[]> {
  return await eventually(`an answer of ${url}`, async () => {
    const sql = connectTo(url);
    try {
      return await sql.unsafe(statement, [...values]);
    } catch {
      return undefined;
    } finally {
      await sql.end({ timeout: 1 });
    }
  });
}
