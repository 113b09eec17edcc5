import { PembaError } from "../../base/error.ts";
import { quote } from "../../base/quote.ts";
import { onceServerAnswers, type Patience } from "../postgres/await-server.ts";
import { CircuitBreaker, type CircuitState } from "../postgres/connect/circuit-breaker.ts";
import { Database, type DatabaseOptions } from "../postgres/connect/database.ts";
import { onDatabase } from "../postgres/connect/on-database.ts";
import { secretOf } from "../postgres/token/snap-token.ts";
import type { Store } from "../store.ts";
import { Cluster, type ClusterSource } from "./cluster.ts";
import { Clusters } from "./clusters.ts";
import { Directory, directoryConnections } from "./directory.ts";
import { joinDirectory, openDirectory } from "./membership.ts";
import { namingCluster } from "./naming-cluster.ts";
import { createPlacedStore } from "./store.ts";

/** One cluster of the configuration. */
export interface PlacedCluster extends Omit<ClusterSource, "open"> {
  /** Sees to it that its database has the tables. Fails as opening an engine does. */
  readonly prepare: () => Promise<void>;
  /**
   * Opens its engine, with the layers that stand around it. Fails as opening an engine does.
   *
   * @param tokenKey authenticates the tokens of all clusters
   */
  readonly open: (tokenKey: string | undefined) => Promise<Store>;
}

export interface PlacedStoreOptions {
  readonly clusters: readonly PlacedCluster[];
  /** The name of the cluster whose database has the placements. */
  readonly directory: string;
  /** Authenticates tokens. The database of the directory has a key for when it is absent. */
  readonly tokenKey: string | undefined;
  /** How the directory is asked, besides its URI and the number of connections. */
  readonly database: Omit<DatabaseOptions, "url" | "warn" | "circuit">;
  /** If present, the directory fails at once while its server is gone. Called after each change of that. */
  readonly onCircuit?: ((state: CircuitState) => void) | undefined;
  /** For the cluster of the directory: the start goes on without any other one. */
  readonly patience: Patience;
  readonly warn: (message: string) => void;
}

/**
 * Opens a store whose tenants are on several clusters. It waits for the cluster of the directory, and goes
 * on without others that do not answer. Fails as opening an engine does, and with INVALID_ARGUMENT if the
 * databases are not those of one directory, or a cluster is missing on which tenants are.
 */
export async function openPlacedStore(options: PlacedStoreOptions): Promise<Store> {
  const { clusters, patience, tokenKey } = options;
  const home = clusters.find(({ name }) => name === options.directory);
  if (home === undefined) {
    throw new PembaError("INVALID_ARGUMENT", "database.directory: is none of the clusters");
  }
  const others = clusters.filter((cluster) => cluster !== home);
  const open: { close(): Promise<void> }[] = [];
  try {
    const { store, directory, counts, id, secret, place } = await namingCluster(
      home.name,
      async () =>
        await onceServerAnswers(
          home.url,
          patience,
          async () => await openHome(home, others, options),
        ),
    );
    open.push(store, directory);
    refuseMissing(counts, clusters);
    const places = new Map([[place, home.name]]);
    const member = { directory, id, tokenKey: tokenKey ?? secret, places };
    const begun = await Promise.allSettled(
      others.map(async (other) => await Cluster.begin(memberOf(other, member))),
    );
    const members = begun.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
    open.push(...members);
    const failure = begun.find((one) => one.status === "rejected");
    if (failure !== undefined) throw failure.reason;
    const first = Cluster.opened({ ...home, open: async () => await home.open(tokenKey) }, store);
    const all = new Clusters([first, ...members]);
    return createPlacedStore({ directory, clusters: all, warn: options.warn });
  } catch (error) {
    await Promise.all(open.map(async (part) => await part.close()));
    throw error;
  }
}

/** A server that is there accepts a connection in less, however busy it is. */
const probeTimeoutMs = 5_000;

/** The directory, and what identifies it and its database. */
interface ConnectedDirectory {
  readonly directory: Directory;
  /** The id of the directory. */
  readonly id: string;
  readonly secret: string;
  /** Of its database. */
  readonly place: string;
}

interface OpenHome extends ConnectedDirectory {
  readonly store: Store;
  /** How many tenants are on each cluster, by its name. */
  readonly counts: ReadonlyMap<string, number>;
}

/** Opens the cluster of the directory with it. What fails leaves nothing open, and may be tried again. */
async function openHome(
  home: PlacedCluster,
  others: readonly PlacedCluster[],
  options: PlacedStoreOptions,
): Promise<OpenHome> {
  const store = await home.open(options.tokenKey);
  let connected: ConnectedDirectory | undefined;
  try {
    connected = await connectDirectory(home, others, options);
    await connected.directory.followDatabase();
    return { ...connected, store, counts: await connected.directory.counts() };
  } catch (error) {
    await connected?.directory.close();
    await store.close();
    throw error;
  }
}

/** Connects to the database of the directory once its engine is open, so that its tables are there. */
async function connectDirectory(
  { name, url, warn }: PlacedCluster,
  others: readonly PlacedCluster[],
  { database: options, onCircuit }: PlacedStoreOptions,
): Promise<ConnectedDirectory> {
  const pool = {
    ...options.pool,
    maxConnections: directoryConnections,
    minConnections: 0,
    minIdleConnections: 0,
  };
  let database: Database | undefined;
  const circuit =
    onCircuit &&
    new CircuitBreaker({
      probe: async () => await onDatabase(url, async () => {}, probeTimeoutMs),
      onChange: onCircuit,
      onSilence: () => database?.cut(),
    });
  try {
    database = await Database.connect({ ...options, url, pool, warn, circuit });
    const directory = new Directory(database, name, circuit);
    return {
      directory,
      id: await openDirectory(database, name, others),
      secret: await secretOf(database),
      place: database.greeting.place,
    };
  } catch (error) {
    circuit?.close();
    await database?.close();
    throw error;
  }
}

/** What the clusters of a directory have in common. */
interface SharedByClusters {
  readonly directory: Directory;
  /** The id of the directory. */
  readonly id: string;
  /** Authenticates the tokens of all clusters. */
  readonly tokenKey: string;
  /** The clusters whose databases are known, by their places. */
  readonly places: Map<string, string>;
}

/** A cluster whose database joins the directory before it is used. */
function memberOf(
  cluster: PlacedCluster,
  { directory, id, tokenKey, places }: SharedByClusters,
): ClusterSource {
  const { name, url } = cluster;
  const tenants = async (): Promise<number> => (await directory.counts()).get(name) ?? 0;
  return {
    ...cluster,
    open: async () => {
      await namingCluster(name, cluster.prepare);
      await onDatabase(url, async (database) => {
        await joinDirectory(database, { name, directory: id, tenants, places });
      });
      return await namingCluster(name, async () => await cluster.open(tokenKey));
    },
  };
}

function refuseMissing(counts: OpenHome["counts"], clusters: readonly PlacedCluster[]): void {
  const names = new Set(clusters.map(({ name }) => name));
  const missing = [...counts].filter(([name]) => !names.has(name));
  if (missing.length === 0) return;
  const list = missing.map(([name, tenants]) => `${quote(name)} with ${tenants} tenants`);
  throw new PembaError(
    "INVALID_ARGUMENT",
    `database.clusters: does not name ${list.join(", ")}, expected all clusters on which tenants are`,
  );
}
