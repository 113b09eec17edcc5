import type { Telemetry } from "../base/telemetry.ts";
import type { Config } from "../config/options.ts";
import {
  type GarbageCollectionOptions,
  type GarbagePass,
  observeGarbage,
} from "../store/garbage-collection.ts";
import { lockWaitMs } from "../store/layer/limit-changes.ts";
import { createMemoryStore } from "../store/memory/store.ts";
import { onceServerAnswers } from "../store/postgres/await-server.ts";
import type { Answering } from "../store/postgres/checks/check.ts";
import type { PoolOptions } from "../store/postgres/connect/pool-options.ts";
import { createPostgresStore, type PostgresStoreOptions } from "../store/postgres/store.ts";
import type { Store } from "../store/store.ts";
import { writerUri } from "./migrate.ts";
import type { Observation } from "./observe.ts";
import { messageOf } from "./output.ts";
import { sqlInterfaceOptionsOf } from "./sql/interface-options-of.ts";

/**
 * Opens the configured engine. Waits for a limited time for a database that does not answer yet, or
 * until the signal is aborted. Fails if the database is unusable.
 */
export async function openStore(
  config: Config,
  { logger, telemetry }: Pick<Observation, "logger" | "telemetry">,
  signal: AbortSignal,
): Promise<Store> {
  const common = commonOf(config, { logger, telemetry });
  switch (config["database.engine"]) {
    case "memory":
      logger.info("data is kept in memory and lost when the process ends");
      if (writerUri(config) !== "") {
        logger.warn("`database.uri` is set but not used: `database.engine` is `memory`");
      }
      return createMemoryStore(common);
    case "postgres": {
      const { counts, ...listeners } = answerListeners(telemetry);
      const url = writerUri(config);
      const patience = {
        timeoutMs: config["database.start_timeout"],
        signal,
        onAbsent: (error: unknown) =>
          logger.warn(`waiting for the database (\`database.start_timeout\`): ${messageOf(error)}`),
      };
      const open = async (): Promise<Store> =>
        await createPostgresStore({
          ...common,
          url,
          replicaUrl: readerUri(config),
          pool: poolOf(config),
          ...timeoutsOf(config),
          sql: config["database.sql.enabled"] ? sqlInterfaceOptionsOf(config) : undefined,
          autoMigrate: config["database.auto_migrate"],
          maxRetries: config["database.max_retries"],
          lockWaitMs,
          // Half of the connections. Slower questions have the others.
          slots: Math.ceil(config["database.max_connections"] / 2),
          cache: {
            maxBytes: config["service.permission.cache.max_cost"],
            maxEntries: config["service.permission.cache.number_of_counters"],
          },
          ...(config["service.circuit_breaker"] && {
            onCircuit: (state) => logger.warn(circuitChanges[state]),
          }),
          ...listeners,
        });
      const store = await onceServerAnswers(url, patience, open);
      return {
        ...store,
        close: async () => {
          await store.close();
          logger.info(counts, "answers since the start, by how they were found");
        },
      };
    }
  }
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
    watch: config["service.watch.enabled"]
      ? { readAheadMax: config["database.watch_buffer_size"] }
      : undefined,
  };
}

/** Records how answers were found, and counts them. */
function answerListeners(telemetry: Telemetry): Required<
  Pick<PostgresStoreOptions, "onAnswered">
> & {
  readonly counts: Readonly<Record<Answering, number>>;
} {
  const counts: Record<Answering, number> = { pushed_down: 0, gathered: 0, looked_into: 0 };
  return {
    counts,
    onAnswered: (how, answers) => {
      counts[how] += answers;
      telemetry.add("pemba.question.found", answers, { found: how });
    },
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

function poolOf(config: Config): PoolOptions {
  return {
    maxConnections: config["database.max_connections"],
    minConnections: config["database.min_connections"],
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
