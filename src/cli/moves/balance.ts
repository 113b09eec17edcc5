import type { FlagKind } from "../../config/flags.ts";
import { type ClusterLoad, planBalance, type PlannedMove } from "../../store/placed/move/plan.ts";
import { readLoad } from "../../store/placed/move/read-loads.ts";
import { namingCluster } from "../../store/placed/naming-cluster.ts";
import { onDatabase } from "../../store/postgres/connect/on-database.ts";
import { complain, messageOf, say, surplus, warn } from "../output.ts";
import { readSettings } from "../settings.ts";
import { sayTable } from "../terminal.ts";
import { moving, rateFlag, rateProblems } from "./move.ts";
import { type MoveContext, runMove, UnusableCluster } from "./run-move.ts";

export const balanceFlags: ReadonlyMap<string, FlagKind> = new Map<string, FlagKind>([
  ["dry-run", { bare: "true" }],
  ...rateFlag,
]);

/** Runs `pemba tenant balance`. */
export async function balance(args: readonly string[]): Promise<number> {
  const settings = readSettings(
    args,
    (words, values) => [...surplus("tenant balance", words), ...rateProblems(values)],
    balanceFlags,
  );
  if (settings.kind === "problems") return complain(...settings.problems);
  settings.warnings.forEach(warn);
  const { values } = settings;
  return await moving(settings, async (context) => {
    const loads: ClusterLoad[] = [];
    for (const { name, weight, uri } of context.clusters.entries) {
      const load = await namingCluster(
        name,
        async () => await onDatabase(uri, async (database) => await readLoad(database)),
      );
      loads.push({ name, weight, ...load });
    }
    const moves = planBalance(loads);
    sayTable(moves.map(({ tenant, from, to, tuples }) => [tenant, from, to, `${tuples} tuples`]));
    if (moves.length === 0) say("nothing to move: each cluster has about its share");
    return values.has("dry-run") ? 0 : await runMoves(context, moves);
  });
}

/** Makes all moves that can be made, and names the others at the end. */
async function runMoves(context: MoveContext, moves: readonly PlannedMove[]): Promise<number> {
  const { signal } = context;
  const failed: string[] = [];
  const unusable = new Set<string>();
  for (const { tenant, from, to } of moves) {
    signal.throwIfAborted();
    if (unusable.has(from) || unusable.has(to)) {
      failed.push(tenant);
      continue;
    }
    try {
      await runMove(context, tenant, to);
    } catch (error) {
      if (signal.aborted) throw error;
      failed.push(tenant);
      if (error instanceof UnusableCluster) unusable.add(error.cluster);
      complain(`${tenant}: ${messageOf(error)}`);
    }
  }
  return failed.length === 0 ? 0 : complain(`not moved: ${failed.join(", ")}`);
}
