import { migrateUp } from "../../src/store/postgres/migrate.ts";
import {
  type RestartableServer,
  startRestartablePostgres,
} from "../../test/support/postgres-binaries.ts";
import { type PembaServing, type ServedCluster, serveClusters } from "../serving.ts";

/** A cluster on a server of its own. */
export interface BenchCluster extends ServedCluster {
  readonly server: RestartableServer;
}

export type ClusterName = "a" | "b" | "c";

/** Three clusters on three servers, and an instance that serves them. */
export interface BenchClusters {
  readonly of: Readonly<Record<ClusterName, BenchCluster>>;
  readonly all: readonly BenchCluster[];
  readonly serving: PembaServing;
  readonly stop: () => Promise<void>;
}

/** A request of a cluster that says nothing is refused after so long. */
const timeoutMs = 2_000;

/** Starts servers that are durable as in production, one after the other, and an instance. */
export async function startClusters(sharedBuffers: string): Promise<BenchClusters> {
  const settings = [
    `shared_buffers=${sharedBuffers}`,
    "max_wal_size=8GB",
    // Nothing may start to clean up in the middle of a measurement.
    "autovacuum=off",
  ];
  const started: BenchCluster[] = [];
  const start = async (name: ClusterName): Promise<BenchCluster> => {
    const server = await startRestartablePostgres(settings);
    const cluster = { name, uri: server.url, server };
    started.push(cluster);
    await migrateUp(server.url);
    return cluster;
  };
  const stopServers = async (): Promise<void> => {
    for (const { server } of started) await server.stop();
  };
  try {
    const of = { a: await start("a"), b: await start("b"), c: await start("c") };
    const serving = await serveClusters(namesOf(started), {
      SERVICE_DATABASE_READ_TIMEOUT: `${timeoutMs}ms`,
      SERVICE_DATABASE_WRITE_TIMEOUT: `${timeoutMs}ms`,
    });
    return {
      of,
      all: started,
      serving,
      stop: async () => {
        await serving.stop();
        await stopServers();
      },
    };
  } catch (error) {
    await stopServers();
    throw error;
  }
}

/** What a configuration says of clusters. */
export function namesOf(clusters: readonly ServedCluster[]): readonly ServedCluster[] {
  return clusters.map(({ name, uri }) => ({ name, uri }));
}
