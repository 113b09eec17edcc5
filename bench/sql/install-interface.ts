import { createPostgresStore } from "../../src/store/postgres/store.ts";
import { poolOf } from "../store.ts";

/** The database schema of the functions that applications call. */
export const entrySchema = "pemba";

/** Installs the SQL interface, as the configuration has it by default. */
export async function installSqlInterface(url: string): Promise<void> {
  const store = await createPostgresStore({
    url,
    pool: poolOf(1),
    autoMigrate: true,
    maxRetries: 0,
    maxSchemaCacheBytes: 10 << 20,
    warn: (message) => process.stderr.write(`${message}\n`),
    sql: {
      schema: entrySchema,
      sync: "write",
      questions: [],
      depth: 100,
      subject: { kind: "setting", name: "pemba.subject" },
      bound: false,
      visibleMax: 200_000,
    },
  });
  await store.close();
}
