import type { Config } from "../config/options.ts";

/** The memory of an instance, which its clusters divide. */
const divided = [
  "service.permission.cache.number_of_counters",
  "service.permission.cache.max_cost",
  "service.schema.cache.number_of_counters",
  "service.schema.cache.max_cost",
] as const satisfies readonly (keyof Config)[];

/**
 * The configuration of one of so many clusters: caches have an even part, so that a cluster that is added
 * takes no more memory of the process. Limits stay, so that a cluster that is full takes nothing of others.
 */
export function withPartOfCaches(config: Config, clusters: number): Config {
  const parts = divided.map(
    (key) => [key, Math.max(1, Math.floor(config[key] / clusters))] as const,
  );
  return { ...config, ...Object.fromEntries(parts) };
}
