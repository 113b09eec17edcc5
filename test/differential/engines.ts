import { createMemoryStore } from "../../src/store/memory/store.ts";
import { createPostgresStore } from "../../src/store/postgres/store.ts";
import type { Store } from "../../src/store/store.ts";
import { createTestDatabase } from "../support/database.ts";

/** Both engines, each over an empty database. */
export interface Engines {
  readonly memory: Store;
  readonly postgres: Store;
  stop(): Promise<void>;
}

/** `onStatement` hears every statement that goes to Postgres. */
export async function startEngines(onStatement?: (text: string) => void): Promise<Engines> {
  const maxSchemaCacheBytes = 64 * 1024 * 1024;
  const memory = createMemoryStore({ maxSchemaCacheBytes });
  const database = await createTestDatabase();
  const postgres = await createPostgresStore({
    url: database.url,
    pool: { maxConnections: 4, idleTimeoutMs: 0, maxLifetimeMs: 0, connectTimeoutMs: 10_000 },
    autoMigrate: true,
    maxRetries: 10,
    maxSchemaCacheBytes,
    warn: () => {},
    onStatement,
  });
  return {
    memory,
    postgres,
    stop: async () => {
      await memory.close();
      await postgres.close();
      await database.drop();
    },
  };
}
