import { PembaError } from "../../base/error.ts";
import type { TenantId } from "../../base/tuple.ts";
import type { FlagKind } from "../../config/flags.ts";
import { configFlags } from "../../config/load.ts";
import { Directory } from "../../store/placed/directory.ts";
import { directoryIdOf } from "../../store/placed/membership.ts";
import { DrainPlan } from "../../store/placed/move/plan.ts";
import { tenantsOn } from "../../store/placed/move/read-loads.ts";
import { onDatabase } from "../../store/postgres/connect/on-database.ts";
import type { Command } from "../command.ts";
import { complain, messageOf, say, warn } from "../output.ts";
import { readSettings } from "../settings.ts";
import { clusterOf, clustersHelp } from "./clusters.ts";
import { moving, rateFlag, rateProblems } from "./move.ts";
import { type MoveContext, runMove, UnusableCluster } from "./run-move.ts";

export const drain: Command = {
  name: "drain",
  summary: "move all tenants away from a cluster",
  flags: new Map<string, FlagKind>([...configFlags(), ...rateFlag]),
  help: () => `usage: pemba cluster drain NAME [flags]

Moves all tenants of a cluster to the others, by their weights and numbers of tenants, one after the other.
Its weight in the configuration must be 0, so that it gets no new ones. A tenant that cannot be moved is named,
and the others are moved all the same. A cluster that does not answer gets none from then on.

  --rate  the most tuples a second that are copied (default: no limit)

${clustersHelp}`,

  async run(args) {
    const settings = readSettings(
      args,
      (words, values) => [
        ...(words.length === 1 ? [] : ["cluster drain: expected one NAME of a cluster"]),
        ...rateProblems(values),
      ],
      rateFlag,
    );
    if (settings.kind === "problems") return complain(...settings.problems);
    settings.warnings.forEach(warn);
    const [name = ""] = settings.positionals;
    return await moving(settings, async (context) => {
      if (clusterOf(context.clusters, name, "NAME").weight !== 0) {
        throw new PembaError(
          "INVALID_ARGUMENT",
          `database.clusters: the weight of \`${name}\` is not 0, expected 0 for a cluster that is drained`,
        );
      }
      return await drainCluster(context, name);
    });
  },
};

async function drainCluster(context: MoveContext, name: string): Promise<number> {
  const { clusters, signal } = context;
  const home = clusterOf(clusters, clusters.directory, "database.directory");
  return await onDatabase(home.uri, async (database) => {
    await directoryIdOf(database, home.name);
    const directory = new Directory(database, home.name);
    const counts = await directory.counts();
    const plan = new DrainPlan(
      clusters.entries
        .filter((entry) => entry.weight > 0)
        .map((entry) => ({
          name: entry.name,
          weight: entry.weight,
          tenants: counts.get(entry.name) ?? 0,
        })),
    );
    for await (const tenant of tenantsOn(database, name)) {
      signal.throwIfAborted();
      try {
        if (!(await moveAway(context, tenant, plan))) {
          return complain("no other cluster has a weight above 0 and can be used");
        }
      } catch (error) {
        const isOfSource = error instanceof UnusableCluster && error.cluster === name;
        if (signal.aborted || isOfSource) throw error;
        complain(`${tenant}: ${messageOf(error)}`);
      }
    }
    const left = (await directory.counts()).get(name) ?? 0;
    if (left > 0) return complain(`${left} tenants are still on ${name}`);
    say(`no tenant is on ${name}`);
    return 0;
  });
}

/**
 * Moves a tenant to the next cluster of the plan that can be used. One that cannot is told, and leaves the plan.
 * Resolves to false if there is none.
 */
async function moveAway(context: MoveContext, tenant: TenantId, plan: DrainPlan): Promise<boolean> {
  // One that broke off goes on to the same cluster.
  const begun = (await context.connections.notes.read(tenant))?.target;
  if (begun !== undefined && plan.isLost(begun)) return true;
  for (let to = begun ?? plan.next(); to !== undefined; to = plan.next()) {
    try {
      await runMove(context, tenant, to);
      return true;
    } catch (error) {
      if (!(error instanceof UnusableCluster) || error.cluster !== to) throw error;
      plan.lose(to);
      complain(`no tenant moves to \`${to}\`: ${messageOf(error)}`);
      if (begun !== undefined) return true;
    }
  }
  return false;
}
