import type { SnapToken } from "../src/base/tuple.ts";
import type { PoolOptions } from "../src/store/postgres/connect/pool-options.ts";
import { createPostgresStore } from "../src/store/postgres/store.ts";
import type { Store, WatchOptions } from "../src/store/store.ts";
import { firstTenant } from "../test/data/ask-store.ts";

export interface OpenStoreOptions {
  readonly url: string;
  readonly connections: number;
  readonly onStatement?: (text: string) => void;
  /** Changes cannot be followed when absent. */
  readonly watch?: WatchOptions;
}

/** The store as the service opens it, on a database that is migrated. */
export async function openStore({
  url,
  connections,
  onStatement,
  watch,
}: OpenStoreOptions): Promise<Store> {
  return await createPostgresStore({
    url,
    pool: poolOf(connections),
    autoMigrate: false,
    maxRetries: 0,
    maxSchemaCacheBytes: 10 << 20,
    warn: (message) => process.stderr.write(`${message}\n`),
    onStatement,
    watch,
  });
}

/** Connections that stay. */
export function poolOf(maxConnections: number): PoolOptions {
  return { maxConnections, idleTimeoutMs: 0, maxLifetimeMs: 0, connectTimeoutMs: 30_000 };
}

/** The token of the state that a database has now. A write of nothing returns it, too. */
export async function presentStateOf(url: string): Promise<SnapToken> {
  const store = await openStore({ url, connections: 1 });
  try {
    const nothing = { schemaVersion: undefined, tuples: [], attributes: [] };
    return await store.data.write(firstTenant, nothing);
  } finally {
    await store.close();
  }
}
