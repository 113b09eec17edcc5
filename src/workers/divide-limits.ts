import type { Config } from "../config/options.ts";

/** One of the workers of an instance. */
export interface WorkerPlace {
  /** From 1. A worker that replaces another one has its number. */
  readonly number: number;
  /** How many workers the instance has. */
  readonly workers: number;
}

/** What an instance has so much of, and each worker a part of. The parts add up to the whole. */
const divided = [
  "database.max_connections",
  "database.min_connections",
  "database.min_idle_connections",
  "service.permission.concurrency_limit",
  "service.permission.cache.number_of_counters",
  "service.permission.cache.max_cost",
  "service.schema.cache.number_of_counters",
  "service.schema.cache.max_cost",
  "server.connection_limit",
] as const satisfies readonly (keyof Config)[];

/** Each worker has one of these at least. */
const mayBeNone: ReadonlySet<keyof Config> = new Set([
  "database.min_connections",
  "database.min_idle_connections",
]);

/**
 * The configuration of one worker: its part of what the instance has, and for the first worker alone
 * what an instance does once.
 */
export function dividedConfig(config: Config, place: WorkerPlace): Config {
  const parts = divided.map((key) => {
    const part = partOf(config[key], place);
    return [key, mayBeNone.has(key) ? part : Math.max(1, part)] as const;
  });
  const isFirst = place.number === 1;
  const port = config["profiler.port"];
  return {
    ...config,
    ...Object.fromEntries(parts),
    "database.clusters": config["database.clusters"].map((cluster) => ({
      ...cluster,
      maxConnections: cluster.maxConnections && Math.max(1, partOf(cluster.maxConnections, place)),
      minConnections: cluster.minConnections && partOf(cluster.minConnections, place),
    })),
    "database.garbage_collection.enabled": config["database.garbage_collection.enabled"] && isFirst,
    "profiler.port": port === 0 ? 0 : Math.min(port + place.number - 1, portMax),
  };
}

const portMax = 65_535;

/** The first workers have one more where the whole cannot be divided evenly. */
function partOf(whole: number, { number, workers }: WorkerPlace): number {
  return Math.floor(whole / workers) + (number <= whole % workers ? 1 : 0);
}
