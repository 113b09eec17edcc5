import type { FlagKind } from "../../config/flags.ts";
import { type ClusterLoad, planBalance } from "../../store/placed/move/plan.ts";
import { readLoad } from "../../store/placed/move/read-loads.ts";
import { namingCluster } from "../../store/placed/naming-cluster.ts";
import { onDatabase } from "../../store/postgres/connect/on-database.ts";
import { complain, say, surplus, warn } from "../output.ts";
import { readSettings } from "../settings.ts";
import { sayTable } from "../terminal.ts";
import { moving, rateFlag, rateProblems } from "./move.ts";
import { runMove } from "./run-move.ts";

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
    if (values.has("dry-run")) return;
    for (const { tenant, to } of moves) {
      context.signal.throwIfAborted();
      await runMove(context, tenant, to);
    }
  });
}
