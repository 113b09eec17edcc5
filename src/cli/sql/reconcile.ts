import { configFlags } from "../../config/load.ts";
import type { Config } from "../../config/options.ts";
import type { TableMap } from "../../sql/application/table-map.ts";
import type { Connection } from "../../store/postgres/connect/connection.ts";
import type { InterfaceNames } from "../../store/postgres/sql-interface/interface-names.ts";
import {
  compareMap,
  countStrangeRows,
  type Difference,
  readKeptMaps,
  repairMap,
} from "../../store/postgres/sql-interface/map-work.ts";
import type { Command } from "../command.ts";
import { clusterFlag, eachDatabaseHelp, onEach } from "../databases.ts";
import { complain, say, surplus, warn } from "../output.ts";
import { readSettings } from "../settings.ts";
import { onTwoConnections } from "./map-connections.ts";
import type { WrittenMap } from "./map-file.ts";
import { openMaps, readKeptMap, readMaps } from "./map-open.ts";
import { createWorkProgress } from "./map-progress.ts";
import { type InterfacePlace, onInterface, refuseStaleInterface } from "./on-interface.ts";
import { databaseList, isOn, type SqlFlag, switchFlag } from "./sql-settings.ts";

const flags = new Map<string, SqlFlag>([["repair", switchFlag], ...clusterFlag]);

/** The exit status when something differs. */
const differsStatus = 2;

export const reconcile: Command = {
  name: "reconcile",
  summary: "compare what maps derive with the rows of their tables",
  flags: new Map([...configFlags(), ...flags]),
  help: () => `usage: pemba sql reconcile [FILE] [flags]

Compares the tables of the maps in FILE, or of all maps in the database, with the tuples and attributes
that are stored, at one state of both. It prints a line for each difference: \`missing\`, if a row gives
something that is not stored, or \`surplus\`, if no row gives what is stored. Triggers keep both equal; they
differ where triggers were disabled, rows came by logical replication or with a partition, or tuples were
there before the map.

  --repair  makes what is missing, and deletes what is surplus, in batches of 1,000. While a batch is
            deleted, no transaction changes the table

  pemba sql reconcile pemba.maps.yaml --repair

The exit status is 0 when all is equal or was repaired, 2 when something differs, and 1 when that cannot
be told.

The role needs to read the tables, and to change them for --repair.

${eachDatabaseHelp}`,

  async run(args) {
    const settings = readSettings(args, ([, ...others]) => surplus("sql reconcile", others), flags);
    if (settings.kind === "problems") return complain(...settings.problems);
    settings.warnings.forEach(warn);
    const { config, positionals, values } = settings;
    const [file] = positionals;
    const read = file === undefined ? undefined : readMaps(file);
    if (read !== undefined && "problems" in read) return complain(...read.problems);
    const isRepair = isOn(values, "repair");
    return await onEach(databaseList({ config, values }), async (url) => {
      await refuseStaleInterface(config, url);
      return await reconcileMaps(read?.maps, { config, url, isRepair });
    });
  },
};

async function reconcileMaps(
  written: readonly WrittenMap[] | undefined,
  {
    config,
    url,
    isRepair,
  }: { readonly config: Config; readonly url: string; readonly isRepair: boolean },
): Promise<number> {
  return await onInterface(config, url, async (_, place) => {
    const chosen = written === undefined ? await keptMaps(place) : { maps: written };
    if ("problems" in chosen) return complain(...chosen.problems);
    if (chosen.maps.length === 0) say("there are no maps");
    const statuses = new Set<number>();
    await onTwoConnections(url, async (reading, changing) => {
      for (const each of chosen.maps) {
        const opened = await openMaps([each], place);
        if ("problems" in opened) {
          // It says nothing about the others.
          statuses.add(complain(...opened.problems));
          continue;
        }
        for (const { map } of opened.maps) {
          const connections = { reading, changing: isRepair ? changing : undefined };
          const isEqual = await reconcileOne(map, place.names, connections);
          statuses.add(isEqual || isRepair ? 0 : differsStatus);
        }
      }
    });
    return [1, differsStatus].find((status) => statuses.has(status)) ?? 0;
  });
}

async function keptMaps({ database, names }: InterfacePlace): Promise<ReturnType<typeof readMaps>> {
  const kept = await readKeptMaps(database, names);
  const read = kept.map(({ name, definition }) => readKeptMap(definition, name));
  const problems = read.flatMap((each) => ("problems" in each ? each.problems : []));
  return problems.length > 0
    ? { problems }
    : { maps: read.flatMap((each) => ("maps" in each ? each.maps : [])) };
}

/** Returns whether the table and what is stored were equal. */
async function reconcileOne(
  map: TableMap,
  names: InterfaceNames,
  {
    reading,
    changing,
  }: { readonly reading: Connection; readonly changing: Connection | undefined },
): Promise<boolean> {
  const progress = createWorkProgress();
  const counts = { missing: 0, surplus: 0, repaired: 0 };
  for await (const batch of compareMap(reading, map, names)) {
    for (const difference of batch) {
      counts[difference.isMissing ? "missing" : "surplus"] += 1;
      say(lineOf(map, difference));
    }
    if (changing === undefined) continue;
    counts.repaired += await repairMap(changing, map, names, batch);
    progress.show(`${map.name}: ${counts.repaired} repaired`);
  }
  progress.end();
  const { missing, surplus: extra, repaired } = counts;
  const done = changing === undefined ? "" : `, ${repaired} repaired`;
  const isEqual = missing + extra === 0;
  say(isEqual ? `${map.name}: equal` : `${map.name}: ${missing} missing, ${extra} surplus${done}`);
  const strange = await countStrangeRows(reading, map, names);
  if (strange > 0) {
    warn(`${map.name}: ${strange} rows are of tenants that do not exist, and were left out`);
  }
  return isEqual;
}

function lineOf(map: TableMap, { isMissing, element }: Difference): string {
  const [isAttribute, tenant = "", entityId = "", name = "", type = "", id = "", relation = ""] =
    element;
  const entity = `${map.entityType}:${entityId}`;
  const text =
    isAttribute === "true"
      ? `${entity}$${name}|${type}:${id}`
      : `${entity}#${name}@${type}:${id}${relation && `#${relation}`}`;
  return `${isMissing ? "missing" : "surplus"} ${tenant} ${text}`;
}
