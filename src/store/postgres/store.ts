import { noTelemetry, type Telemetry } from "../../base/telemetry.ts";
import { unwatched } from "../change-streams.ts";
import { CompiledSchemas } from "../compiled-schemas.ts";
import { type GarbageCollectionOptions, type GarbagePass, quietMs } from "../garbage-collection.ts";
import { LargeWork } from "../layer/large-work.ts";
import { withLayers } from "../layer/order.ts";
import type { Store, WatchOptions } from "../store.ts";
import { type CheckLayers, checkLayers } from "./check-layers.ts";
import { type Answering, PostgresPermissions } from "./checks/check.ts";
import { CircuitBreaker, type CircuitState } from "./connect/circuit-breaker.ts";
import { Database } from "./connect/database.ts";
import { silence } from "./connect/driver-error.ts";
import type { PoolOptions } from "./connect/pool-options.ts";
import { createPostgresBundles } from "./data/bundles.ts";
import { createPostgresData } from "./data/data.ts";
import { startGarbageCollection } from "./garbage.ts";
import { listed, migrateUp, refusePendingMigrations } from "./migrate.ts";
import { observeEngine } from "./observe-engine.ts";
import { PostgresLookups } from "./questions/lookup.ts";
import { readsOf } from "./replicas/reads.ts";
import { type ReplicatedReads, startReplicas } from "./replicas/replicated-reads.ts";
import { makersWarnings } from "./schema-makers.ts";
import { createPostgresSchemas, readSchema } from "./schemas.ts";
import type { SqlInterfaceOptions } from "./sql-interface/interface-options.ts";
import { openSqlInterface } from "./sql-interface/open-interface.ts";
import { OpenWrites } from "./sql-interface/open-writes.ts";
import type { SqlInterface } from "./sql-interface/sql-interface.ts";
import { TenantRemoval } from "./tenant-removal.ts";
import { createPostgresTenants } from "./tenants.ts";
import { SnapTokens } from "./token/snap-token.ts";
import { PostgresChanges } from "./watch/changes.ts";

export interface PostgresStoreOptions extends CheckLayers {
  readonly url: string;
  readonly pool: PoolOptions;
  /** Servers that follow that of `url`, and are asked instead where they can answer. */
  readonly replicaUrl?: string | undefined;
  /** Authenticates tokens; the database has one for when it is absent. */
  readonly tokenKey?: string | undefined;
  /** Other databases authenticate tokens with the same key, and tenants come from there. */
  readonly sharesTokenKey?: boolean | undefined;
  /** Apply pending migrations; otherwise a pending one is an error. */
  readonly autoMigrate: boolean;
  /** How often a write is repeated that collided with others. */
  readonly maxRetries: number;
  /**
   * A change that waits longer than this for another one fails with CHANGE_BLOCKED, undone. When
   * absent it waits for as long as that takes, or as the server has it.
   */
  readonly lockWaitMs?: number | undefined;
  /** After so many milliseconds a statement that only reads is cancelled; absent or 0: never. */
  readonly readTimeoutMs?: number | undefined;
  /** After so many milliseconds a change is, and fails with DEADLINE_EXCEEDED; absent or 0: never. */
  readonly writeTimeoutMs?: number | undefined;
  /** Memory for compiled schemas. */
  readonly maxSchemaCacheBytes: number;
  /** Without it the bytes alone count. */
  readonly maxSchemas?: number;
  /** History is kept for ever when absent. */
  readonly garbageCollection?: GarbageCollectionOptions | undefined;
  /** Called after each pass. */
  readonly onCollected?: ((pass: GarbagePass) => void) | undefined;
  /** When absent, changes cannot be followed, and no notifications are sent. */
  readonly watch?: WatchOptions | undefined;
  /** When absent, applications ask nothing in their own SQL. */
  readonly sql?: SqlInterfaceOptions | undefined;
  readonly warn: (message: string) => void;
  /** Told of what the start does, and of what is well again. */
  readonly info?: ((message: string) => void) | undefined;
  /** If present, requests fail at once while the server is gone. Called after each change of the circuit. */
  readonly onCircuit?: ((state: CircuitState) => void) | undefined;
  /** Called with every statement that goes to the server, as it goes. */
  readonly onStatement?: ((text: string) => void) | undefined;
  /** Called with how many answers of a question were found, and how. */
  readonly onAnswered?: ((how: Answering, answers: number) => void) | undefined;
  /** Of the process. The engine has its own when absent. */
  readonly large?: LargeWork;
  readonly telemetry?: Telemetry | undefined;
}

/**
 * Opens the engine that keeps everything in a Postgres database. Fails with UNAVAILABLE when it
 * cannot be reached and with MIGRATION when its tables are not what they should be.
 */
export async function createPostgresStore(options: PostgresStoreOptions): Promise<Store> {
  const { url, lockWaitMs, warn, large = new LargeWork(), telemetry = noTelemetry } = options;
  await prepareTables(options);
  for (const warning of await makersWarnings(url)) warn(warning);
  const connections = await connect(options);
  const { database, ping, circuit, tokens, replicated } = connections;
  const reads = replicated ?? readsOf(database);
  const schemas = new CompiledSchemas((tenant, version) => readSchema(database, tenant, version), {
    maxBytes: options.maxSchemaCacheBytes,
    maxEntries: options.maxSchemas,
  });
  const sqlInterface = await interfaceOf(options, schemas, connections);
  const { maxConnections } = options.pool;
  const observed = { database, maxConnections, circuit, replicated, schemas };
  // Only what is open is observed, since an engine that cannot be opened may be tried again and again.
  const lags = observeEngine(telemetry, observed);
  const openWrites = sqlInterface && new OpenWrites(database, sqlInterface.names, telemetry);
  const removal = new TenantRemoval({ database, warn, sqlInterface });
  removal.start();
  const collection =
    options.garbageCollection &&
    startGarbageCollection(database, options.garbageCollection, {
      collected: options.onCollected ?? (() => {}),
      warn,
      removeUnused: sqlInterface && ((window, stop) => sqlInterface.removeUnused(window, stop)),
    });

  // Kept answers of several servers, which show several states.
  const tellsShown = replicated !== undefined && options.cache !== undefined;
  const answering = { reads, schemas, tokens, large, telemetry, tellsShown };
  const permissions = new PostgresPermissions({ ...answering, onAnswered: options.onAnswered });

  const changes =
    options.watch &&
    new PostgresChanges({
      database,
      tokens,
      url,
      lags,
      quietMs: quietMs(options.garbageCollection),
      ...options.watch,
    });
  const onChanged = (): void => changes?.onChanged();
  const servers = (): number => replicated?.servers ?? 1;
  const writing = { database, schemas, tokens, onChanged, lockWaitMs };

  const engine: Store = {
    tenants: createPostgresTenants(database, lockWaitMs, (tenant) => {
      schemas.forget(tenant);
      removal.start();
      onChanged();
    }),
    schemas: createPostgresSchemas(database, schemas, sqlInterface),
    data: createPostgresData({ ...writing, reads, telemetry, isWatched: changes !== undefined }),
    bundles: createPostgresBundles(writing),
    permissions,
    lookups: new PostgresLookups({ ...answering, permissions }),
    changes: changes ?? unwatched,
    pageMac: (content) => tokens.pageMac(content),
    ping,
    close: async () => {
      circuit?.close();
      const parts = [removal, collection, changes, openWrites];
      await Promise.all(parts.map(async (part) => await part?.close()));
      await closeConnections(connections);
    },
  };
  const asking = { permissions, reads, schemas, tokens, maxConnections, servers };
  return withLayers(engine, checkLayers({ ...asking, telemetry }, options));
}

/**
 * Applies the pending migrations of a database if that is wanted, or fails with MIGRATION if there are any.
 * Fails with UNAVAILABLE when it cannot be reached.
 */
export async function prepareTables({
  url,
  autoMigrate,
  warn,
  info = () => {},
}: Pick<PostgresStoreOptions, "url" | "autoMigrate" | "warn" | "info">): Promise<void> {
  const newer = (names: readonly string[]): void =>
    warn(
      `a newer version of Pemba has applied ${listed(names)} to the database: writes of this version may fail`,
    );
  if (!autoMigrate) {
    await refusePendingMigrations(url, { newer });
    return;
  }
  const begins = (pending: readonly string[]): void =>
    info(`the database lacks ${listed(pending)}: applying them, which may wait for locks`);
  const applied = await migrateUp(url, { newer, begins });
  if (applied.length > 0) info(`applied ${listed(applied)}`);
}

/** A server that is there answers a probe in less, however busy it is. */
const probeTimeoutMs = 5_000;

interface OpenConnections {
  readonly database: Database;
  readonly probe: Database;
  readonly ping: () => Promise<void>;
  readonly circuit: CircuitBreaker | undefined;
  readonly tokens: SnapTokens;
  /** Where there are replicas. */
  readonly replicated: ReplicatedReads | undefined;
}

/** What fails leaves no connection behind. */
async function connect(options: PostgresStoreOptions): Promise<OpenConnections> {
  const { url, onCircuit, warn } = options;
  // A probe that waited behind requests would call a busy server dead.
  const probe = await Database.connect({
    url,
    pool: { ...options.pool, maxConnections: 1, connectTimeoutMs: probeTimeoutMs },
    warn: () => {},
  });
  const ping = async (): Promise<void> => await pingOn(probe);
  let tokens: SnapTokens | undefined;
  let database: Database | undefined;
  const circuit =
    onCircuit &&
    new CircuitBreaker({
      probe: ping,
      onChange: onCircuit,
      onSilence: () => {
        warn("connections are closed: the database answers neither on them nor to a probe");
        database?.cut();
      },
    });
  try {
    database = await Database.connect({
      ...options,
      circuit,
      onGreeted: (server) => tokens?.greeted(server),
    });
    const { tokenKey: key, sharesTokenKey: isShared, sql } = options;
    tokens = await SnapTokens.load(database, { key, isShared, fromSql: sql !== undefined });
    const replicated = await startReplicas(options, database, probe);
    return { database, probe, ping, circuit, tokens, replicated };
  } catch (error) {
    circuit?.close();
    await Promise.all([database?.close(), probe.close()]);
    throw error;
  }
}

async function closeConnections({
  circuit,
  replicated,
  database,
  probe,
}: OpenConnections): Promise<void> {
  circuit?.close();
  await replicated?.close();
  await Promise.all([database.close(), probe.close()]);
}

/** Where it is enabled. What fails leaves no connection behind. */
async function interfaceOf(
  { url, sql, autoMigrate, warn }: PostgresStoreOptions,
  schemas: CompiledSchemas,
  connections: OpenConnections,
): Promise<SqlInterface | undefined> {
  if (sql === undefined) return undefined;
  try {
    return await openSqlInterface(
      { database: connections.database, schemas },
      { url, options: sql, mayInstall: autoMigrate, warn },
    );
  } catch (error) {
    await closeConnections(connections);
    throw error;
  }
}

/** A connection that swallows everything is replaced. */
async function pingOn(probe: Database): Promise<void> {
  const late = setTimeout(() => probe.cut(silence()), probeTimeoutMs);
  try {
    await probe.query("select 1", []);
  } finally {
    clearTimeout(late);
  }
}
