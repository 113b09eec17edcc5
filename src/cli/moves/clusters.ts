import { randomUUID } from "node:crypto";

import { PembaError } from "../../base/error.ts";
import { quote } from "../../base/quote.ts";
import type { ClusterEntry } from "../../config/clusters.ts";
import type { Config } from "../../config/options.ts";
import { moveLeaseMs } from "../../store/placed/move/move.ts";
import { type MoveConnections, onMoveDatabases } from "../../store/placed/move/on-databases.ts";
import { namingCluster } from "../../store/placed/naming-cluster.ts";
import { refusePendingMigrations } from "../../store/postgres/migrate.ts";

/** The clusters of a configuration, for commands that move tenants between them. */
export interface MoveClusters {
  readonly entries: readonly ClusterEntry[];
  /** The name of the cluster with the directory. */
  readonly directory: string;
}

/** Help for the flags that such commands take besides their own. */
export const clustersHelp = `The clusters are those of the configuration, as for serve: \`database.clusters\` of a file (--config FILE) or a
variable. The command connects to their databases by itself, and needs no server.`;

/** Fails with INVALID_ARGUMENT if the configuration names no clusters. */
export function clustersOf(config: Config): MoveClusters {
  const entries = config["database.clusters"];
  const [first] = entries;
  if (first === undefined) {
    throw new PembaError(
      "INVALID_ARGUMENT",
      "`database.clusters`: is empty, so there are no clusters (if a file has them, name it with --config)",
    );
  }
  return { entries, directory: config["database.directory"] || first.name };
}

/** The cluster with a name. Fails with INVALID_ARGUMENT, naming the flag or word, if there is none. */
export function clusterOf({ entries }: MoveClusters, name: string, where: string): ClusterEntry {
  const entry = entries.find((one) => one.name === name);
  if (entry !== undefined) return entry;
  const names = entries.map((one) => quote(one.name)).join(", ");
  throw new PembaError("INVALID_ARGUMENT", `${where}: ${quote(name)} is none of ${names}`);
}

/** Does work on the databases of the clusters as one process that may move tenants. */
export async function onClusters<T>(
  { entries, directory }: MoveClusters,
  work: (connections: MoveConnections) => Promise<T>,
): Promise<T> {
  const urlOf = (name: string): string | undefined =>
    entries.find((entry) => entry.name === name)?.uri;
  const home = urlOf(directory);
  if (home !== undefined) {
    await namingCluster(directory, async () => await refusePendingMigrations(home));
  }
  const mover = { id: randomUUID(), leaseMs: moveLeaseMs };
  return await onMoveDatabases({ urlOf, directory }, mover, work);
}
