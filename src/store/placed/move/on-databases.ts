import { PembaError } from "../../../base/error.ts";
import { quote } from "../../../base/quote.ts";
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
  readonly mover: Mover;
}

export interface MoveConnections {
  readonly notes: MoveNotes;
  readonly sidesOf: (move: Pick<NotedMove, "source" | "target">) => MoveSides;
}

/** Does work on connections to the databases, which are made when they are needed and closed afterwards. */
export async function onMoveDatabases<T>(
  { urlOf, directory, mover }: MovePlace,
  work: (connections: MoveConnections) => Promise<T>,
): Promise<T> {
  return await onClusterDatabases(urlOf, async (connect) => {
    const notes = new MoveNotes(connect(directory), mover);
    return await work({ notes, sidesOf: (move) => sidesOn(connect, notes, move) });
  });
}

/** Connects to the database of a cluster when it is asked first. */
type ConnectCluster = (name: string) => MoveDatabase;

/**
 * The same for work that has the notes already.
 *
 * @param limitMs a statement that takes longer fails; undefined: none does
 */
export async function onClusterDatabases<T>(
  urlOf: MovePlace["urlOf"],
  work: (connect: ConnectCluster) => Promise<T>,
  limitMs?: number,
): Promise<T> {
  const open = new Map<string, LazyDatabase>();
  const connect = (cluster: string): LazyDatabase => {
    const known = open.get(cluster);
    if (known !== undefined) return known;
    const url = urlOf(cluster);
    if (url === undefined) throw unknownCluster(cluster);
    const database = new LazyDatabase(url, limitMs);
    open.set(cluster, database);
    return database;
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
