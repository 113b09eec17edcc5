import { emptyContext, type SnapToken } from "../src/base/tuple.ts";
import { parseTenantId } from "../src/service/field.ts";
import type { CheckLayers } from "../src/store/postgres/checks/check-layers.ts";
import type { PoolOptions } from "../src/store/postgres/connect/pool-options.ts";
import { createPostgresStore } from "../src/store/postgres/store.ts";
import type { Store, WatchOptions } from "../src/store/store.ts";
import type { Question } from "./data/dataset.ts";

/** The tenant that every database starts with. */
export const benchTenant = parseTenantId("t1");

export interface OpenStoreOptions {
  readonly url: string;
  readonly connections: number;
  readonly onStatement?: (text: string) => void;
  /** Every check is a statement of its own when absent. */
  readonly layers?: CheckLayers;
  /** Nobody can follow changes when absent. */
  readonly watch?: WatchOptions;
}

/** The store as the service opens it, on a database that is migrated. */
export async function openStore({
  url,
  connections,
  onStatement,
  layers,
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
    ...layers,
  });
}

/** Connections that stay. */
export function poolOf(maxConnections: number): PoolOptions {
  return { maxConnections, idleTimeoutMs: 0, maxLifetimeMs: 0, connectTimeoutMs: 30_000 };
}

/** One check at the head of the schema, of the present state unless another one is named. */
export async function checkThrough(
  store: Pick<Store, "permissions">,
  question: Question,
  { snapToken, depth = 100 }: { readonly snapToken?: SnapToken; readonly depth?: number } = {},
): Promise<boolean> {
  const { entity, permission, user } = question;
  const subject = { type: "user", id: user, relation: "" };
  const [answer] = await store.permissions.check(benchTenant, {
    schemaVersion: undefined,
    snapToken,
    depth,
    context: emptyContext,
    items: [{ entity, permission, subject, arguments: [] }],
    path: (_item, field) => field,
  });
  return answer?.allowed ?? false;
}

/** The token of what is there now: a write of nothing has one, too. */
export async function presentState(store: Pick<Store, "data">): Promise<SnapToken> {
  const nothing = { schemaVersion: undefined, tuples: [], attributes: [] };
  return await store.data.write(benchTenant, nothing);
}
