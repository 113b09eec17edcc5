import { PembaError } from "../../base/error.ts";
import type { TenantId } from "../../base/tuple.ts";
import type { Config } from "../../config/options.ts";
import { finish, takeBack } from "../../store/placed/move/end-move.ts";
import { defaultMoveOptions, moveTenant, refusedMove } from "../../store/placed/move/move.ts";
import type { NotedMove } from "../../store/placed/move/notes.ts";
import type { MoveConnections } from "../../store/placed/move/on-databases.ts";
import { removeRows } from "../../store/placed/move/remove-rows.ts";
import { namingCluster } from "../../store/placed/naming-cluster.ts";
import { onDatabase } from "../../store/postgres/connect/on-database.ts";
import { refusePendingMigrations } from "../../store/postgres/migrate.ts";
import { say, warn } from "../output.ts";
import { onInterface } from "../sql/on-interface.ts";
import { clusterOf, type MoveClusters } from "./clusters.ts";
import { createMoveProgress } from "./move-progress.ts";

/** The rows at the source are removed for so long. Instances go on with what is left. */
const removalPatienceMs = 60_000;

export interface MoveContext {
  readonly config: Config;
  readonly clusters: MoveClusters;
  readonly connections: MoveConnections;
  /** Rows per second at most. */
  readonly rate: number;
  readonly signal: AbortSignal;
}

/** The database of a cluster does not answer, or cannot be used for moves. No other tenant could move from or to it. */
export class UnusableCluster extends PembaError {
  readonly cluster: string;

  constructor(cluster: string, cause: PembaError) {
    super(cause.code, cause.plainMessage, { details: cause.details, cause: cause.cause });
    this.cluster = cluster;
  }
}

/**
 * Moves one tenant to a cluster and says so, or ends the move that was begun. Fails as `moveTenant` does, and before it
 * begins with an error that names the cluster if the source or the target cannot be used.
 */
export async function runMove(context: MoveContext, tenant: TenantId, to: string): Promise<void> {
  const { clusters, connections, rate, signal } = context;
  const { uri } = clusterOf(clusters, to, "--to");
  await using(to, async () => {
    await namingCluster(to, async () => await refusePendingMigrations(uri));
  });
  // So that nothing is noted of a move that cannot begin.
  const source = await connections.notes.clusterOf(tenant);
  for (const cluster of new Set([to, source ?? to])) {
    await using(cluster, async () => await connections.reach(cluster));
  }
  const move = await connections.notes.begin(tenant, to);
  if (move === undefined) throw await refusedMove(connections.notes, tenant, to);
  const progress = createMoveProgress(tenant);
  try {
    await moveTenant(connections.sidesOf(move), move, {
      ...defaultMoveOptions,
      rate,
      signal,
      onEvent: progress.show,
    });
  } finally {
    progress.end();
  }
  say(`moved ${tenant} from ${move.source} to ${move.target}${progress.stopped()}`);
  await cleanUp(context, move);
}

async function using(cluster: string, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    throw error instanceof PembaError ? new UnusableCluster(cluster, error) : error;
  }
}

/** Takes a move back, or ends it if the tenant is at its target already. Fails if there is none. */
export async function revertMove(context: MoveContext, tenant: TenantId): Promise<void> {
  const { notes, sidesOf } = context.connections;
  const move = await notes.take(tenant);
  if (move === undefined) throw await refusedMove(notes, tenant, undefined);
  if (move.step === "switched" || move.step === "removing") {
    await finish(sidesOf(move), move);
    say(`${tenant} is on ${move.target}: the move was made before it could be taken back`);
    return await cleanUp(context, move);
  }
  await takeBack(sidesOf(move), move);
  say(`${tenant} stays on ${move.source}`);
  await removeAt(context, move.target);
}

/**
 * What only makes room, or can be made later, does not fail the move. The functions come first: until the target has them,
 * SQL of applications fails there.
 */
async function cleanUp(context: MoveContext, { source, target }: NotedMove): Promise<void> {
  if (context.config["database.sql.enabled"]) await makeFunctions(context, target);
  await removeAt(context, source);
}

async function makeFunctions({ config, clusters }: MoveContext, target: string): Promise<void> {
  const { uri } = clusterOf(clusters, target, "--to");
  try {
    const mayMake = config["database.sql.sync"] === "write";
    await onInterface(config, uri, async (one) => await one.syncHeads({ all: false, mayMake }));
  } catch (error) {
    warn(`run \`pemba sql sync --cluster ${target}\`: ${String(error)}`);
  }
}

async function removeAt({ config, clusters, signal }: MoveContext, cluster: string): Promise<void> {
  const { uri } = clusterOf(clusters, cluster, "database.clusters");
  const patience = { patienceMs: removalPatienceMs, signal, warn };
  try {
    const isDone = config["database.sql.enabled"]
      ? await onInterface(
          config,
          uri,
          async (sqlInterface, { database }) =>
            await removeRows({ database, sqlInterface }, patience),
        )
      : await onDatabase(uri, async (database) => await removeRows({ database }, patience));
    if (!isDone) warn(`rows are left on ${cluster}, instances remove them`);
  } catch (error) {
    warn(`rows are left on ${cluster}, instances remove them: ${String(error)}`);
  }
}
