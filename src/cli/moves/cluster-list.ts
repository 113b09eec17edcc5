import { configFlags } from "../../config/load.ts";
import { Directory } from "../../store/placed/directory.ts";
import { directoryIdOf } from "../../store/placed/membership.ts";
import { Database } from "../../store/postgres/connect/database.ts";
import { onDatabase } from "../../store/postgres/connect/on-database.ts";
import type { Command } from "../command.ts";
import { complain, messageOf, surplus, warn } from "../output.ts";
import { readSettings } from "../settings.ts";
import { sayTable } from "../terminal.ts";
import { clusterOf, clustersHelp, clustersOf, type MoveClusters } from "./clusters.ts";

/** A server that is there accepts a connection in less, however busy it is. */
const connectTimeoutMs = 5_000;

export const list: Command = {
  name: "list",
  summary: "show the clusters: name, weight, up or down, tenants",
  flags: configFlags(),
  help: () => `usage: pemba cluster list [flags]

Shows each cluster in a line: its name, its weight, whether its database answers, and how many tenants are
on it. The status is 1 if one is down, if the configuration does not name one that has tenants, or if
the tenants are not known.

${clustersHelp}`,

  async run(args) {
    const settings = readSettings(args, (words) => surplus("cluster list", words));
    if (settings.kind === "problems") return complain(...settings.problems);
    settings.warnings.forEach(warn);
    const clusters = clustersOf(settings.config);
    const counts = await tenantsOf(clusters);
    const states = await Promise.all(clusters.entries.map(async ({ uri }) => await isUp(uri)));
    const rows = clusters.entries.map(({ name, weight }, index) => [
      name,
      `weight ${weight}`,
      states[index] === true ? "up" : "down",
      counts === undefined ? "unknown tenants" : `${counts.get(name) ?? 0} tenants`,
    ]);
    const names = new Set(clusters.entries.map(({ name }) => name));
    const unnamed = [...(counts ?? [])].filter(([name]) => !names.has(name));
    sayTable([
      ...rows,
      ...unnamed.map(([name, tenants]) => [
        name,
        "not configured",
        "unknown",
        `${tenants} tenants`,
      ]),
    ]);
    const isWhole = counts !== undefined && unnamed.length === 0;
    return isWhole && states.every(Boolean) ? 0 : 1;
  },
};

/** How many tenants each cluster has. Undefined if the directory does not answer, or is not there. */
async function tenantsOf(clusters: MoveClusters): Promise<ReadonlyMap<string, number> | undefined> {
  const { uri, name } = clusterOf(clusters, clusters.directory, "database.directory");
  try {
    const database = await Database.connect({
      url: uri,
      pool: { maxConnections: 1, idleTimeoutMs: 0, maxLifetimeMs: 0, connectTimeoutMs },
      warn,
    });
    const directory = new Directory(database, name);
    try {
      await directoryIdOf(database, name);
      return await directory.counts();
    } finally {
      await directory.close();
    }
  } catch (error) {
    warn(`the tenants of clusters are not known: ${messageOf(error)}`);
    return undefined;
  }
}

async function isUp(url: string): Promise<boolean> {
  try {
    await onDatabase(url, async () => {}, connectTimeoutMs);
    return true;
  } catch {
    return false;
  }
}
