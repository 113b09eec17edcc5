import type postgres from "postgres";

/** What statements are written with: values become parameters, and never a part of the text. */
export type Sql = postgres.ISql;

/** Writes one statement, which answers rows. */
type Write<Row> = (sql: Sql) => Promise<readonly Row[]>;

export interface Database {
  /** Runs one statement for a user, and answers its rows. */
  readonly ask: <Row>(user: string, write: Write<Row>) => Promise<readonly Row[]>;
  /**
   * The same for a statement that changes permissions. It is repeated when Postgres asks for that, since
   * another transaction was in the way.
   */
  readonly change: <Row>(user: string, write: Write<Row>) => Promise<readonly Row[]>;
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

/** How often a change is tried. */
const attemptsMax = 10;

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
  const ask: Database["ask"] = async (user, write) => {
    if (!hasRowSecurity) return await write(sql);
    const { rows } = await sql.begin(async (transaction) => {
      await transaction`select set_config('pemba.subject', ${user}, true)`;
      return { rows: await write(transaction) };
    });
    return rows;
  };
  return {
    ask,
    change: async (user, write) => {
      for (let attempt = 1; ; attempt++) {
        try {
          return await ask(user, write);
        } catch (error) {
          if (attempt === attemptsMax || !isConflict(error)) throw error;
        }
      }
    },
    askForNoUser: async (write) => await write(sql),
    close: () => sql.end({ timeout: 5 }),
  };
}

/** Whether another transaction was in the way: of changes of one key, the later one fails, and so does a deadlock. */
function isConflict(error: unknown): boolean {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return code === "40001" || code === "40P01";
}
