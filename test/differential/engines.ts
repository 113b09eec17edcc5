import { createMemoryStore } from "../../src/store/memory/store.ts";
import { createPostgresStore, type PostgresStoreOptions } from "../../src/store/postgres/store.ts";
import type { Store } from "../../src/store/store.ts";
import { createTestDatabase } from "../support/database.ts";
import { areTenantsPlaced, openPlacedDatabases } from "../support/placed-databases.ts";

const pool = { maxConnections: 4, idleTimeoutMs: 0, maxLifetimeMs: 0, connectTimeoutMs: 10_000 };

/** Both engines, each over an empty database; that of Postgres over two, if tenants are placed. */
export interface Engines {
  readonly memory: Store;
  readonly postgres: Store;
  stop(): Promise<void>;
}

/** `onStatement` hears every statement that goes to Postgres. */
export async function startEngines(onStatement?: (text: string) => void): Promise<Engines> {
  const maxSchemaCacheBytes = 64 * 1024 * 1024;
  const memory = createMemoryStore({ maxSchemaCacheBytes });
  const open = async (url: string, tokens: Partial<PostgresStoreOptions> = {}): Promise<Store> =>
    await createPostgresStore({
      url,
      pool,
      autoMigrate: true,
      maxRetries: 10,
      maxSchemaCacheBytes,
      warn: () => {},
      onStatement,
      ...tokens,
    });
  const { store, drop } = areTenantsPlaced()
    ? await openPlacedDatabases(2, { pool }, open)
    : await openAlone(open);
  return {
    memory,
    postgres: store,
    stop: async () => {
      await memory.close();
      await store.close();
      await drop();
    },
  };
}

async function openAlone(
  open: (url: string) => Promise<Store>,
): Promise<{ readonly store: Store; readonly drop: () => Promise<void> }> {
  const database = await createTestDatabase();
  return { store: await open(database.url), drop: database.drop };
}
