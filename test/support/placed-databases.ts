import { openPlacedStore, type PlacedStoreOptions } from "../../src/store/placed/open.ts";
import type { PostgresStoreOptions } from "../../src/store/postgres/store.ts";
import type { Store } from "../../src/store/store.ts";
import { createMigratedDatabase, type TestDatabase } from "./database.ts";
import { tokenKey } from "./token-key.ts";

/** Set by test files that run the behaviour of an engine with tenants on several databases. */
const variable = "PEMBA_TEST_PLACED";

/** Whether the tests of this process run on placed tenants alone. */
export function areTenantsPlaced(): boolean {
  return process.env[variable] === "yes";
}

/** Has all engines of this process be placed ones. Tests that are imported from now on run on them. */
export function placeTenants(): void {
  process.env[variable] = "yes";
}

/** What tells a store that its tokens have the key of all clusters. */
type SharedTokens = Pick<PostgresStoreOptions, "tokenKey" | "sharesTokenKey">;

export interface PlacedDatabases {
  readonly store: Store;
  /** Of the clusters a, b, c ... in this order. The first one has the directory. */
  readonly urls: readonly string[];
  /** Drops the databases, after the store has been closed. */
  readonly drop: () => Promise<void>;
  /** Closes the store and drops the databases. */
  readonly close: () => Promise<void>;
}

/** A store with tenants on so many databases of the run's server, each with the same weight. */
export async function openPlacedDatabases(
  count: number,
  database: PlacedStoreOptions["database"],
  open: (url: string, tokens: SharedTokens) => Promise<Store>,
): Promise<PlacedDatabases> {
  const databases: TestDatabase[] = [];
  for (let made = 0; made < count; made++) databases.push(await createMigratedDatabase());
  const urls = databases.map(({ url }) => url);
  const store = await openPlacedOver(urls, database, open);
  const drop = async (): Promise<void> => {
    for (const one of databases) await one.drop();
  };
  return {
    store,
    urls,
    drop,
    close: async () => {
      await store.close();
      await drop();
    },
  };
}

/** Another instance over databases, whose clusters are a, b, c ... in this order. */
export async function openPlacedOver(
  urls: readonly string[],
  database: PlacedStoreOptions["database"],
  open: (url: string, tokens: SharedTokens) => Promise<Store>,
): Promise<Store> {
  return await openPlacedStore({
    clusters: urls.map((url, index) => ({
      name: String.fromCodePoint(97 + index),
      weight: 1,
      url,
      prepare: async () => {},
      open: async (key) => await open(url, { tokenKey: key, sharesTokenKey: true }),
      warn: () => {},
    })),
    directory: "a",
    tokenKey,
    database,
    patience: { timeoutMs: 0, signal: new AbortController().signal, onAbsent: () => {} },
    warn: () => {},
  });
}
