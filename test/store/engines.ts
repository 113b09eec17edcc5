import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";

import { type ErrorCode, PembaError } from "../../src/base/error.ts";
import {
  type Attribute,
  type AttributeValue,
  emptyContext,
  type SchemaVersion,
  type SnapToken,
  type TenantId,
  type Tuple,
} from "../../src/base/tuple.ts";
import { createMemoryStore } from "../../src/store/memory/store.ts";
import { createPostgresStore, type PostgresStoreOptions } from "../../src/store/postgres/store.ts";
import type { DataStore, Store } from "../../src/store/store.ts";
import { createMigratedDatabase } from "../support/database.ts";
import {
  areTenantsPlaced,
  openPlacedDatabases,
  type PlacedDatabases,
} from "../support/placed-databases.ts";
import { tokenKey } from "../support/token-key.ts";

export const pool = {
  maxConnections: 8,
  idleTimeoutMs: 0,
  maxLifetimeMs: 0,
  connectTimeoutMs: 10_000,
};

export interface OpenStore {
  readonly store: Store;
  /** Closes the store and removes what it kept. */
  readonly close: () => Promise<void>;
}

/** What both engines can be told. */
export type StoreOptions = Pick<
  PostgresStoreOptions,
  "garbageCollection" | "onCollected" | "watch"
>;

interface TestedEngine {
  readonly name: string;
  open(options?: StoreOptions): Promise<OpenStore>;
}

const usualEngines: readonly TestedEngine[] = [
  {
    name: "memory",
    open: async (options = {}) => {
      const store = createMemoryStore({ maxSchemaCacheBytes: 1_000_000, tokenKey, ...options });
      return { store, close: async () => await store.close() };
    },
  },
  { name: "postgres", open: async (options) => await openPostgres(options) },
];

const placedEngine: TestedEngine = {
  name: "placed",
  open: async (options) => await openPlaced(options),
};

/** The engines that the tests of this process run on. */
export const engines = areTenantsPlaced() ? [placedEngine] : usualEngines;

/** A store with tenants on three databases. */
export async function openPlaced(
  options: Partial<PostgresStoreOptions> = {},
): Promise<PlacedDatabases> {
  return await openPlacedDatabases(3, { pool }, async (url, tokens) =>
    openStore(url, { ...tokens, ...options }),
  );
}

/** A store over a database of its own. */
export async function openPostgres(
  options: Partial<PostgresStoreOptions> = {},
): Promise<OpenStore & { readonly url: string }> {
  const { url, drop } = await createMigratedDatabase();
  const store = await openStore(url, options);
  return {
    store,
    url,
    close: async () => {
      await store.close();
      await drop();
    },
  };
}

/** Another instance over the same database. */
export async function openStore(
  url: string,
  options: Partial<PostgresStoreOptions> = {},
): Promise<Store> {
  return await createPostgresStore({
    url,
    pool,
    autoMigrate: true,
    maxRetries: 10,
    maxSchemaCacheBytes: 1_000_000,
    tokenKey,
    warn: (message) => assert.fail(message),
    ...options,
  });
}

export const schemaText = `
  entity user {}
  entity group {
    relation member @user @group#member
  }
  entity doc {
    relation owner @user
    relation viewer @user @group#member
    attribute public boolean
    attribute limit integer
    attribute tags string[]
    attribute score double
    permission view = owner or viewer or public
  }
`;

export function tenantId(text: string): TenantId {
  return text as TenantId;
}

/** A tenant that no other test uses, without a schema; on a cluster, if tenants are placed. */
export async function newTenant(store: Store, cluster?: string): Promise<TenantId> {
  const id = tenantId(`t-${randomUUID()}`);
  await store.tenants.create({ id, name: "", cluster });
  return id;
}

/** A tenant that no other test uses, with `schemaText` as its head; on a cluster, if tenants are placed. */
export async function tenantWithSchema(store: Store, cluster?: string): Promise<TenantId> {
  const id = await newTenant(store, cluster);
  await store.schemas.write(id, { text: schemaText });
  return id;
}

/** `doc:1#viewer@group:2#member` as a tuple. */
export function tuple(text: string): Tuple {
  const [, entityType, entityId, relation, type, id, subjectRelation] =
    /^(\w+):(\w+)#(\w+)@(\w+):(\w+)(?:#(\w+))?$/.exec(text) ?? assert.fail(text);
  return {
    entity: { type: String(entityType), id: String(entityId) },
    relation: String(relation),
    subject: { type: String(type), id: String(id), relation: subjectRelation ?? "" },
  };
}

/** An attribute of `doc:1`, or of another document. */
export function attribute(name: string, value: AttributeValue, id = "1"): Attribute {
  return { entity: { type: "doc", id }, attribute: name, value };
}

export interface Written {
  readonly tuples?: readonly string[];
  readonly attributes?: readonly Attribute[];
  readonly schemaVersion?: SchemaVersion;
}

export async function write(
  store: { readonly data: Pick<DataStore, "write"> },
  tenant: TenantId,
  data: Written,
): Promise<SnapToken> {
  return await store.data.write(tenant, {
    schemaVersion: data.schemaVersion,
    tuples: (data.tuples ?? []).map(tuple),
    attributes: data.attributes ?? [],
  });
}

/** May user `subject` do `permission` on document `id`, in the state of the token or now? */
export async function allowed(
  store: Store,
  tenant: TenantId,
  asked: {
    readonly id: string;
    readonly permission: string;
    readonly subject: string;
    readonly at?: SnapToken | undefined;
  },
): Promise<boolean> {
  const [answer] = await store.permissions.check(tenant, {
    schemaVersion: undefined,
    snapToken: asked.at,
    depth: 100,
    context: emptyContext,
    items: [
      {
        entity: { type: "doc", id: asked.id },
        permission: asked.permission,
        subject: { type: "user", id: asked.subject, relation: "" },
        arguments: [],
      },
    ],
    path: (_item, field) => field,
  });
  return answer?.allowed ?? assert.fail("no answer");
}

/** The promise fails with the code and a message that holds all the parts. */
export async function fails(
  work: Promise<unknown>,
  code: ErrorCode,
  ...parts: readonly string[]
): Promise<PembaError> {
  const error = await work.then(
    () => assert.fail(`resolved, expected ${code}`),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof PembaError, String(error));
  assert.equal(error.code, code, error.message);
  for (const part of parts) assert.ok(error.message.includes(part), error.message);
  return error;
}
