import type postgres from "postgres";

/** What statements are written with: values become parameters, and never a part of the text. */
export type Sql = postgres.ISql;

/** Writes one statement, which answers rows. */
type Write<Row> = (sql: Sql) => Promise<readonly Row[]>;

export interface Database {
  /** Runs one statement for a user, and answers its rows. */
  readonly ask: <Row>(user: string, write: Write<Row>) => Promise<readonly Row[]>;
  /** The same for a statement of no user. With row security it sees no document and no folder. */
  readonly askForNoUser: <Row>(write: Write<Row>) => Promise<readonly Row[]>;
  readonly close: () => Promise<void>;
}

/** Options of the driver that the statements rely on. */
export const connectionOptions = {
  // Times come with the offset of UTC, see web/place.ts.
  connection: { TimeZone: "UTC", application_name: "documents" },
  fetch_types: false,
} satisfies postgres.Options<Record<string, never>>;

/**
 * Opens the database as the role of the web server. With row security, each statement of a user runs in
 * a transaction that first says who asks: the policies read it by `pemba.subject()`. The setting ends
 * with the transaction, so no pooler and no other request can take it over.
 */
export function openDatabase({
  sql,
  hasRowSecurity,
}: {
  readonly sql: postgres.Sql;
  readonly hasRowSecurity: boolean;
}): Database {
  return {
    ask: async (user, write) => {
      if (!hasRowSecurity) return await write(sql);
      const { rows } = await sql.begin(async (transaction) => {
        await transaction`select set_config('pemba.subject', ${user}, true)`;
        return { rows: await write(transaction) };
      });
      return rows;
    },
    askForNoUser: async (write) => await write(sql),
    close: () => sql.end({ timeout: 5 }),
  };
}
