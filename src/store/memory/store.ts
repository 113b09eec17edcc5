import { setImmediate as nextRound } from "node:timers/promises";

import type { Steps } from "../../base/steps.ts";
import { noTelemetry, type Telemetry } from "../../base/telemetry.ts";
import { runInSlices } from "../../base/time-slice.ts";
import type { SchemaVersion, SnapToken, TenantId } from "../../base/tuple.ts";
import type { Schema } from "../../language/schema.ts";
import { BackgroundLoop } from "../background-loop.ts";
import type { BundleStore } from "../bundle-store.ts";
import { validateOperations, writesAnything } from "../bundle.ts";
import { observeStreams, StreamLags, unwatched } from "../change-streams.ts";
import { CompiledSchemas, observeSchemas } from "../compiled-schemas.ts";
import { type DataChange, needsSchema, validateChange } from "../data-change.ts";
import {
  type GarbageCollectionOptions,
  type GarbagePass,
  quietMs,
  wakeEveryMs,
} from "../garbage-collection.ts";
import { observeInterpreter } from "../layer/observe-operations.ts";
import { withLayers } from "../layer/order.ts";
import { pageOf } from "../page.ts";
import type { SchemaStore } from "../schema-store.ts";
import type { DataStore, DataWrite, Store, Tenant, TenantStore, WatchOptions } from "../store.ts";
import { validateData } from "../validate-data.ts";
import { MemoryBundles } from "./bundles.ts";
import { createMemoryChanges } from "./changes.ts";
import { MemoryPermissions } from "./check.ts";
import { MemoryData } from "./data.ts";
import { memoryLookups } from "./lookup.ts";
import { MemoryTenants } from "./tenants.ts";
import type { TenantWriter } from "./writer.ts";

export interface MemoryStoreOptions {
  /** Memory for compiled schemas. */
  readonly maxSchemaCacheBytes: number;
  /** Without it the bytes alone count. */
  readonly maxSchemas?: number;
  /** When absent, history ends only where it has become too much to be kept. */
  readonly garbageCollection?: GarbageCollectionOptions | undefined;
  /** Called after each pass. */
  readonly onCollected?: ((pass: GarbagePass) => void) | undefined;
  readonly warn?: ((message: string) => void) | undefined;
  /** When absent, changes are not logged and cannot be followed. */
  readonly watch?: WatchOptions | undefined;
  /** Authenticates tokens; one is drawn when it is absent. */
  readonly tokenKey?: string | undefined;
  readonly telemetry?: Telemetry | undefined;
}

interface MemoryStoreParts {
  readonly tenants: MemoryTenants;
  readonly schemas: CompiledSchemas;
  readonly data: MemoryData;
  readonly bundles: MemoryBundles;
}

/** The engine that keeps everything in this process: it begins with tenant `t1` and ends with it. */
export function createMemoryStore(options: MemoryStoreOptions): Store {
  const tenants = new MemoryTenants();
  const isWatched = options.watch !== undefined;
  const data = new MemoryData({ keepsChanges: isWatched, tokenKey: options.tokenKey });
  const bundles = new MemoryBundles();
  const schemas = new CompiledSchemas(
    async (tenant, version) => tenants.readSchema(tenant, version),
    { maxBytes: options.maxSchemaCacheBytes, maxEntries: options.maxSchemas },
  );
  const { telemetry = noTelemetry } = options;
  observeSchemas(telemetry, schemas);
  const lags = new StreamLags();
  observeStreams(telemetry, lags);
  const parts = { tenants, schemas, data, bundles };
  // As on the other engine, where a migration makes it.
  createTenant(parts, { id: "t1" as TenantId, name: "example tenant" });
  const collection =
    options.garbageCollection &&
    startGarbageCollection(data, options.garbageCollection, {
      collected: options.onCollected ?? (() => {}),
      warn: options.warn ?? (() => {}),
    });
  const engine: Store = {
    tenants: tenantStore(parts),
    schemas: schemaStore(parts),
    data: dataStore(parts),
    bundles: bundleStore(parts),
    permissions: new MemoryPermissions({ data, schemas }),
    lookups: memoryLookups({ data, schemas, telemetry }),
    changes: isWatched
      ? createMemoryChanges(data, quietMs(options.garbageCollection), lags)
      : unwatched,
    pageMac: data.pageMac,
    ping: async () => {},
    close: async () => {
      await collection?.close();
    },
  };
  return withLayers(engine, { interpreter: observeInterpreter(telemetry) });
}

function tenantStore(parts: MemoryStoreParts): TenantStore {
  return {
    create: async (tenant) => createTenant(parts, tenant),
    delete: async (id) => {
      parts.tenants.delete(id);
      parts.data.removeTenant(id);
      parts.bundles.removeTenant(id);
      parts.schemas.forget(id);
    },
    list: async ({ after, limit, among }) => {
      const listed = parts.tenants.list({ after, limit: limit + 1, among });
      return pageOf(await runInSlices(listed, undefined), limit, ({ id }) => id);
    },
  };
}

function createTenant(
  { tenants, data, bundles }: MemoryStoreParts,
  tenant: { readonly id: TenantId; readonly name: string },
): Tenant {
  const created = tenants.create(tenant);
  data.addTenant(tenant.id);
  bundles.addTenant(tenant.id);
  return created;
}

function schemaStore({ tenants, schemas }: MemoryStoreParts): SchemaStore {
  return {
    write: async (tenant, schema) => {
      const version = tenants.writeSchema(tenant, schema);
      if (version !== undefined) schemas.seenHead(tenant, version, undefined);
      return version;
    },
    read: async (tenant, version) => tenants.readSchema(tenant, version),
    list: async (tenant, { before, limit }) => {
      const { found, head } = tenants.listSchemas(tenant, before, limit + 1);
      const versions = found.map(({ version, createdAt }) => ({ version, createdAt }));
      return { ...pageOf(versions, limit, ({ version }) => version), head };
    },
    knownHead: (tenant) => schemas.knownHead(tenant),
    // No other instance has these tenants: what is known here is what there is.
    learnHead: () => {},
  };
}

function dataStore(parts: MemoryStoreParts): DataStore {
  return {
    write: async (tenant, data) => await writeData(parts, tenant, data),
    delete: async (tenant, filters) =>
      await parts.data.writeAlone(tenant, async (writer) => await writer.delete(filters)),
    change: async (tenant, change) => await changeData(parts, tenant, change),
    readTuples: async (tenant, read) => await parts.data.readTuples(tenant, read),
    readAttributes: async (tenant, read) => await parts.data.readAttributes(tenant, read),
  };
}

async function writeData(
  parts: MemoryStoreParts,
  tenant: TenantId,
  write: DataWrite,
): Promise<SnapToken> {
  return await withSchema(parts, tenant, {
    version: write.schemaVersion,
    validate: (schema) => validateData(schema, write),
    work: async (writer) =>
      await writer.apply([{ ...write, deletedTuples: [], deletedAttributes: [] }]),
  });
}

async function changeData(
  parts: MemoryStoreParts,
  tenant: TenantId,
  change: DataChange,
): Promise<SnapToken> {
  if (change.schemaVersion === undefined && !needsSchema(change)) {
    return await parts.data.writeAlone(tenant, async (writer) => await writer.change(change));
  }
  return await withSchema(parts, tenant, {
    version: change.schemaVersion,
    validate: (schema) => validateChange(schema, change),
    work: async (writer) => await writer.change(change),
  });
}

/**
 * Does the work alone among the writers of the tenant, once what it writes is valid under the given version
 * or the head, which is still in force when the work begins: if it is not, after compiling, waiting or
 * validating, all begins anew.
 */
async function withSchema<T>(
  { tenants, schemas, data }: MemoryStoreParts,
  tenant: TenantId,
  {
    version,
    validate,
    work,
  }: {
    readonly version: SchemaVersion | undefined;
    readonly validate: (schema: Schema) => Steps<void>;
    readonly work: (writer: TenantWriter) => Promise<T>;
  },
): Promise<T> {
  for (;;) {
    const stored = tenants.readSchema(tenant, version);
    const { schema } = await schemas.find(tenant, stored.version);
    const done = await data.writeAlone(tenant, async (writer) => {
      if (tenants.readSchema(tenant, version) !== stored) return undefined;
      await runInSlices(validate(schema), undefined);
      if (tenants.readSchema(tenant, version) !== stored) return undefined;
      return { result: await work(writer) };
    });
    if (done !== undefined) return done.result;
  }
}

function bundleStore(parts: MemoryStoreParts): BundleStore {
  const { bundles, data } = parts;
  return {
    write: async (tenant, written) => bundles.write(tenant, written),
    read: async (tenant, name) => bundles.read(tenant, name),
    list: async (tenant, { after, limit }) =>
      pageOf(bundles.list(tenant, after, limit + 1), limit, (name) => name),
    delete: async (tenant, name) => bundles.delete(tenant, name),
    run: async (tenant, name, render) => {
      for (;;) {
        const bundle = bundles.read(tenant, name);
        const operations = await render(bundle);
        // While it waits, the bundle may become another one: then it begins anew.
        const apply = async (writer: TenantWriter): Promise<SnapToken | undefined> =>
          bundles.read(tenant, name) === bundle ? await writer.apply(operations) : undefined;
        const token = writesAnything(operations)
          ? await withSchema(parts, tenant, {
              version: undefined,
              validate: (schema) => validateOperations(schema, name, operations),
              work: apply,
            })
          : await data.writeAlone(tenant, apply);
        if (token !== undefined) return token;
      }
    },
  };
}

/** A few milliseconds, for which all requests wait. */
const endedPerBatch = 2_000;

/** Collects in the background, whenever the interval is over. */
function startGarbageCollection(
  data: MemoryData,
  options: GarbageCollectionOptions,
  tell: {
    readonly collected: (pass: GarbagePass) => void;
    readonly warn: (message: string) => void;
  },
): BackgroundLoop {
  let lastMs = -Infinity;
  return new BackgroundLoop({
    everyMs: wakeEveryMs(options),
    work: async (signal) => {
      data.noteState();
      if (performance.now() - lastMs < options.intervalMs) return;
      const pass = await collectGarbage(data, options, signal);
      if (pass.isComplete) lastMs = performance.now();
      tell.collected(pass);
    },
    failed: (error) => tell.warn(`old history could not be removed: ${String(error)}`),
  });
}

/**
 * Refuses from now on the tokens from before the window, and forgets what only they could need. It
 * stops where it is when its time is over or the signal aborts.
 */
async function collectGarbage(
  data: MemoryData,
  { windowMs, timeoutMs }: Pick<GarbageCollectionOptions, "windowMs" | "timeoutMs">,
  signal?: AbortSignal,
): Promise<GarbagePass> {
  const start = performance.now();
  data.giveUpStates(windowMs);
  let removed = 0;
  let isComplete = false;
  while (!isComplete && performance.now() - start < timeoutMs && !(signal?.aborted ?? false)) {
    const pruned = data.prune(endedPerBatch);
    removed += pruned;
    isComplete = pruned < endedPerBatch;
    await nextRound();
  }
  return { removed, isComplete, milliseconds: performance.now() - start };
}
