import type { BaseLogger } from "pino";

import { pause } from "../base/pause.ts";
import type { ClusterEntry } from "../config/clusters.ts";
import type { Loaded } from "../config/load.ts";
import type { ClusterControl } from "../store/store.ts";
import { messageOf } from "./output.ts";

interface FollowedWeights {
  /** The clusters as the process has them. */
  readonly clusters: readonly ClusterControl[];
  /** The same as the configuration had them at the start. */
  readonly entries: readonly ClusterEntry[];
  /** Reads the configuration anew. */
  readonly load: () => Loaded;
  readonly logger: Pick<BaseLogger, "info" | "warn">;
}

/** How often to read the configuration, in milliseconds: as often as the files of certificates. */
const lookInterval = 5_000;

/**
 * Has the clusters follow the weights in the configuration file until the signal is aborted. Weights in a
 * flag or a variable stay what they are. What else changes there takes a restart, and the weights stay
 * until then. Never fails: problems are logged, each once.
 */
export async function followWeights(
  followed: FollowedWeights,
  signal: AbortSignal,
  interval = lookInterval,
): Promise<void> {
  let complaint: string | undefined;
  // At once, too: a worker that takes the place of another one has the configuration of the start.
  for (; !signal.aborted; await pause(interval, signal)) {
    const problem = follow(followed);
    if (problem !== undefined && problem !== complaint) {
      followed.logger.warn(`the weights of clusters stay as they are: ${problem}`);
    }
    complaint = problem;
  }
}

/** Takes over the weights. Returns the problem if there is one. */
function follow({ clusters, entries, load, logger }: FollowedWeights): string | undefined {
  const loaded = loadedBy(load);
  if (loaded.kind === "problems") return loaded.problems.join("; ");
  const found = loaded.config["database.clusters"];
  if (textOf(found) !== textOf(entries)) {
    return "`database.clusters` has changed in more than its weights, which takes a restart";
  }
  const weights = new Map(found.map(({ name, weight }) => [name, weight]));
  const changed = clusters.filter(({ name, weight }) => weights.get(name) !== weight);
  if (changed.length === 0) return undefined;
  for (const cluster of changed) cluster.setWeight(weights.get(cluster.name) ?? 0);
  logger.info({ weights: Object.fromEntries(weights) }, "new tenants are placed by new weights");
  return undefined;
}

function loadedBy(load: FollowedWeights["load"]): Loaded {
  try {
    return load();
  } catch (error) {
    return { kind: "problems", problems: [messageOf(error)] };
  }
}

/** Everything about clusters besides their weights. */
function textOf(entries: readonly ClusterEntry[]): string {
  return JSON.stringify(entries.map((entry) => ({ ...entry, weight: 0 })));
}
