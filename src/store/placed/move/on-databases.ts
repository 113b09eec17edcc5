import { PembaError } from "../../../base/error.ts";
import { quote } from "../../../base/quote.ts";
import { directoryIdOf, refuseOtherDatabase } from "../membership.ts";
import type { MoveSides } from "./end-move.ts";
import { LazyDatabase } from "./lazy-database.ts";
import { type MoveDatabase, MoveNotes, type Mover, type NotedMove } from "./notes.ts";
import { MoveSource } from "./source.ts";
import { MoveTarget } from "./target.ts";

/** What moves need to reach the databases of the clusters. */
export interface MovePlace {
  /** The database of a cluster. Undefined: the configuration does not name it. */
  readonly urlOf: (cluster: string) => string | undefined;
  /** The name of the cluster with the directory. */
  readonly directory: string;
}

export interface MoveConnections {
  readonly notes: MoveNotes;
  readonly sidesOf: (move: Pick<NotedMove, "source" | "target">) => MoveSides;
  /** Fails if the database of the cluster does not answer, or is not that of the cluster. */
  readonly reach: (cluster: string) => Promise<void>;
}

/** Does work on connections to the databases, which are made when they are needed and closed afterwards. */
export async function onMoveDatabases<T>(
  place: MovePlace,
  mover: Mover,
  work: (connections: MoveConnections) => Promise<T>,
): Promise<T> {
  return await onClusterDatabases(place, async (connect) => {
    const notes = new MoveNotes(connect(place.directory), mover);
    return await work({
      notes,
      sidesOf: (move) => sidesOn(connect, notes, move),
      reach: async (cluster) => void (await connect(cluster).connected()),
    });
  });
}

/** Connects to the database of a cluster when it is asked first. */
type ConnectCluster = (name: string) => LazyDatabase;

/**
 * The same for work that has the notes already. A statement fails with INVALID_ARGUMENT if its database is not that of the
 * cluster: a tenant that is brought to another one is lost for instances.
 *
 * @param limitMs a statement that takes longer fails; undefined: none does
 */
export async function onClusterDatabases<T>(
  { urlOf, directory }: MovePlace,
  work: (connect: ConnectCluster) => Promise<T>,
  limitMs?: number,
): Promise<T> {
  const open = new Map<string, LazyDatabase>();
  const connect = (cluster: string): LazyDatabase => {
    const known = open.get(cluster);
    if (known !== undefined) return known;
    const url = urlOf(cluster);
    if (url === undefined) throw unknownCluster(cluster);
    const database = new LazyDatabase({ cluster, url, check: checkOf(cluster), limitMs });
    open.set(cluster, database);
    return database;
  };
  const checkOf = (name: string) => async (database: MoveDatabase) => {
    if (name === directory) await directoryIdOf(database, name);
    else {
      const id = await directoryIdOf(connect(directory), directory);
      await refuseOtherDatabase(database, { name, directory: id });
    }
  };
  try {
    return await work(connect);
  } finally {
    await Promise.all([...open.values()].map(async (database) => await database.close()));
  }
}

/** The databases of a move, by a process that has its notes. */
export function sidesOn(
  connect: ConnectCluster,
  notes: MoveNotes,
  { source, target }: Pick<NotedMove, "source" | "target">,
): MoveSides {
  return {
    notes,
    source: new MoveSource(connect(source), notes.moverId),
    target: new MoveTarget(connect(target), notes.moverId),
  };
}

function unknownCluster(name: string): PembaError {
  return new PembaError(
    "INVALID_ARGUMENT",
    `database.clusters: does not name ${quote(name)}, expected all clusters on which tenants are`,
  );
}
