import { ofCluster, type Telemetry } from "../base/telemetry.ts";
import type { ClusterEntry } from "../config/clusters.ts";
import type { Config } from "../config/options.ts";
import {
  type GarbageCollectionOptions,
  type GarbagePass,
  observeGarbage,
} from "../store/garbage-collection.ts";
import { LargeWork } from "../store/layer/large-work.ts";
import { lockWaitMs } from "../store/layer/limit-changes.ts";
import type { PlacedCluster } from "../store/placed/open.ts";
import type { Patience } from "../store/postgres/await-server.ts";
import type { Answering } from "../store/postgres/checks/check.ts";
import type { CircuitState } from "../store/postgres/connect/circuit-breaker.ts";
import type { PoolOptions } from "../store/postgres/connect/pool-options.ts";
import type { PostgresStoreOptions } from "../store/postgres/store.ts";
import type { Store } from "../store/store.ts";
import { withPartOfCaches } from "./cluster-caches.ts";
import { writerUri } from "./databases.ts";
import type { Observation } from "./observe.ts";
import { messageOf } from "./output.ts";
import { sqlInterfaceOptionsOf } from "./sql/interface-options-of.ts";

/** Puts layers around the engine of a cluster, which has so many connections. */
type Surround = (
  engine: Store,
  on: { readonly connections: number; readonly telemetry: Telemetry },
) => Store;

/** What a process has for its engines. */
interface EngineSurroundings {
  readonly surround?: Surround;
  readonly large?: LargeWork;
}

/** Where the data of an engine is. */
interface EnginePlace {
  readonly url: string;
  readonly replicaUrl: string;
  readonly pool: PoolOptions;
}

/**
 * Opens the configured engine, or that of each cluster. The code of an engine is loaded only here, because
 * the other one is not used. `surround` puts the layers around each engine of
 * several that belong to it alone. Waits for a limited time for a database that does not answer yet, or
 * until the signal is aborted. Fails if the database is unusable.
 */
export async function openStore(
  config: Config,
  observation: Pick<Observation, "logger" | "telemetry">,
  signal: AbortSignal,
  { surround = (engine) => engine, large = new LargeWork() }: EngineSurroundings = {},
): Promise<Store> {
  const { logger } = observation;
  if (config["database.engine"] === "memory") {
    logger.info("data is kept in memory and lost when the process ends");
    if (writerUri(config) !== "") {
      logger.warn("`database.uri` is set but not used: `database.engine` is `memory`");
    }
    const { createMemoryStore } = await import("../store/memory/store.ts");
    return createMemoryStore(commonOf(config, observation));
  }
  const counts = { pushed_down: 0, gathered: 0, looked_into: 0 };
  const context = { config, counts, large };
  const patience = {
    timeoutMs: config["database.start_timeout"],
    signal,
    onAbsent: (error: unknown) =>
      logger.warn(`waiting for the database (\`database.start_timeout\`): ${messageOf(error)}`),
  };
  const store =
    config["database.clusters"].length > 0
      ? await openClusters({ ...context, surround }, observation, patience)
      : await openAlone(context, observation, patience);
  return {
    ...store,
    close: async () => {
      await store.close();
      logger.info(counts, "answers since the start, by how they were found");
    },
  };
}

/** What an engine is told besides. Made once, however often it takes to open the engine. */
type EnginePart = ReturnType<typeof commonOf> &
  Pick<PostgresStoreOptions, "sharesTokenKey" | "onCircuit">;

/** What the engines of a process have in common. */
interface EngineContext {
  readonly config: Config;
  /** How many answers were found so far, and how. */
  readonly counts: Record<Answering, number>;
  readonly large: LargeWork;
}

async function openAlone(
  context: EngineContext,
  observation: Pick<Observation, "logger" | "telemetry">,
  patience: Patience,
): Promise<Store> {
  const { config } = context;
  const url = writerUri(config);
  const place = { url, replicaUrl: readerUri(config), pool: poolOf(config) };
  const common = commonOf(config, observation);
  const { onceServerAnswers } = await import("../store/postgres/await-server.ts");
  const { refuseAlone } = await import("../store/placed/membership.ts");
  const { onDatabase } = await import("../store/postgres/connect/on-database.ts");
  return await onceServerAnswers(url, patience, async () => {
    const store = await openEngine(context, observation, place, common);
    try {
      await onDatabase(url, refuseAlone);
      return store;
    } catch (error) {
      await store.close();
      throw error;
    }
  });
}

async function openClusters(
  context: EngineContext & { readonly surround: Surround },
  { logger, telemetry }: Pick<Observation, "logger" | "telemetry">,
  patience: Patience,
): Promise<Store> {
  const { config, surround } = context;
  const { openPlacedStore } = await import("../store/placed/open.ts");
  const { prepareTables } = await import("../store/postgres/store.ts");
  const entries = config["database.clusters"];
  const ofEach = withPartOfCaches(config, entries.length);
  const clusters = entries.map((entry): PlacedCluster => {
    const { name, weight, uri: url, reader: replicaUrl = url } = entry;
    const own = { logger: logger.child({ cluster: name }), telemetry: ofCluster(telemetry, name) };
    const place = { url, replicaUrl, pool: poolOf(config, entry) };
    const common = commonOf(ofEach, own);
    const autoMigrate = config["database.auto_migrate"];
    let circuit: CircuitState = "closed";
    const onCircuit = (state: CircuitState): void => void (circuit = state);
    return {
      name,
      weight,
      url,
      prepare: async () => await prepareTables({ ...common, url, autoMigrate }),
      open: async (tokenKey) => {
        const part = { ...common, tokenKey, sharesTokenKey: true, onCircuit };
        const engine = await openEngine({ ...context, config: ofEach }, own, place, part);
        return surround(engine, {
          connections: place.pool.maxConnections,
          telemetry: own.telemetry,
        });
      },
      isGone: () => circuit === "open",
      warn: (message) => own.logger.warn(message),
    };
  });
  const directory = config["database.directory"] || (entries[0]?.name ?? "");
  return await openPlacedStore({
    clusters,
    directory,
    tokenKey: config["service.token_key"] || undefined,
    database: {
      pool: poolOf(config),
      ...timeoutsOf(config),
      maxRetries: config["database.max_retries"],
      telemetry: ofCluster(telemetry, directory),
    },
    ...(config["service.circuit_breaker"] && {
      onCircuit: (state) => logger.warn(`directory of tenants: ${circuitChanges[state]}`),
    }),
    patience,
    warn: (message) => logger.warn(message),
  });
}

async function openEngine(
  { config, counts, large }: EngineContext,
  observation: Pick<Observation, "logger" | "telemetry">,
  place: EnginePlace,
  { onCircuit, ...part }: EnginePart,
): Promise<Store> {
  const { logger, telemetry } = observation;
  const { createPostgresStore } = await import("../store/postgres/store.ts");
  return await createPostgresStore({
    ...part,
    ...place,
    ...timeoutsOf(config),
    large,
    sql: config["database.sql.enabled"] ? sqlInterfaceOptionsOf(config) : undefined,
    autoMigrate: config["database.auto_migrate"],
    maxRetries: config["database.max_retries"],
    lockWaitMs,
    // Half of the connections. Slower questions have the others.
    slots: Math.ceil(place.pool.maxConnections / 2),
    cache: {
      maxBytes: config["service.permission.cache.max_cost"],
      maxEntries: config["service.permission.cache.number_of_counters"],
    },
    ...(config["service.circuit_breaker"] && {
      onCircuit: (state) => {
        logger.warn(circuitChanges[state]);
        onCircuit?.(state);
      },
    }),
    onAnswered: (how, answers) => {
      counts[how] += answers;
      telemetry.add("pemba.question.found", answers, { found: how });
    },
  });
}

/** The options of both engines. */
function commonOf(
  config: Config,
  { logger, telemetry }: Pick<Observation, "logger" | "telemetry">,
) {
  const garbageCollection = garbageCollectionOf(config);
  const collected = garbageCollection && observeGarbage(telemetry, garbageCollection);
  return {
    tokenKey: config["service.token_key"] || undefined,
    maxSchemaCacheBytes: config["service.schema.cache.max_cost"],
    maxSchemas: config["service.schema.cache.number_of_counters"],
    telemetry,
    garbageCollection,
    onCollected: (pass: GarbagePass) => {
      logger.info(pass, "garbage collected");
      collected?.(pass);
    },
    warn: (message: string) => logger.warn(message),
    info: (message: string) => logger.info(message),
    watch: config["service.watch.enabled"]
      ? { readAheadMax: config["database.watch_buffer_size"] }
      : undefined,
  };
}

const circuitChanges = {
  open: "the circuit is open: the database does not answer, requests fail at once until it does",
  closed: "the circuit is closed: the database answers again",
} as const;

/** The writer's URI if no reader is configured. There are then no replicas. */
function readerUri(config: Config): string {
  return config["database.reader.uri"] === ""
    ? config["database.uri"]
    : config["database.reader.uri"];
}

function timeoutsOf(
  config: Config,
): Pick<PostgresStoreOptions, "readTimeoutMs" | "writeTimeoutMs"> {
  return {
    readTimeoutMs: config["database.read_timeout"],
    writeTimeoutMs: config["database.write_timeout"],
  };
}

/** The connections to a database. What a cluster has of its own comes before the keys for all. */
function poolOf(
  config: Config,
  own: Partial<Pick<ClusterEntry, "maxConnections" | "minConnections">> = {},
): PoolOptions {
  return {
    maxConnections: own.maxConnections ?? config["database.max_connections"],
    minConnections: own.minConnections ?? config["database.min_connections"],
    minIdleConnections: config["database.min_idle_connections"],
    maxLifetimeMs: config["database.max_connection_lifetime"],
    lifetimeJitterMs: config["database.max_connection_lifetime_jitter"],
    idleTimeoutMs: config["database.max_connection_idle_time"],
    healthCheckMs: config["database.health_check_period"],
    connectTimeoutMs: config["database.connect_timeout"],
  };
}

/** How history is removed, if that is enabled. */
function garbageCollectionOf(config: Config): GarbageCollectionOptions | undefined {
  if (!config["database.garbage_collection.enabled"]) return undefined;
  return {
    intervalMs: config["database.garbage_collection.interval"],
    windowMs: config["database.garbage_collection.window"],
    timeoutMs: config["database.garbage_collection.timeout"],
  };
}
