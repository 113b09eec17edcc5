import type { Config } from "../../config/options.ts";
import { openRoute } from "../../store/postgres/connect/connection-route.ts";
import type { InterfaceNames } from "../../store/postgres/sql-interface/interface-names.ts";
import {
  type LoadedRows,
  loadMap,
  readKeptMaps,
} from "../../store/postgres/sql-interface/map-work.ts";
import { complain, say, warn } from "../output.ts";
import type { WrittenMap } from "./map-file.ts";
import { type OpenMap, openMaps } from "./map-open.ts";
import { createWorkProgress } from "./map-progress.ts";
import { onInterface } from "./on-interface.ts";

const connectTimeoutMs = 30_000;

/** Makes what the rows of mapped tables give. Resolves to the exit status. */
export async function loadMaps(
  written: readonly WrittenMap[],
  config: Config,
  url: string,
): Promise<number> {
  return await onInterface(config, url, async (_, place) => {
    const opened = await openMaps(written, place);
    if ("problems" in opened) return complain(...opened.problems);
    opened.warnings.forEach(warn);
    const kept = await readKeptMaps(place.database, place.names);
    const absent = opened.maps.filter(({ map, definition }) =>
      kept.every((each) => each.name !== map.name || !isSame(each.definition, definition)),
    );
    if (absent.length > 0) {
      return complain(
        ...absent.map(
          ({ map: { name } }) =>
            `the map \`${name}\` is not in the database as in the file: run what \`pemba sql map FILE\` prints first`,
        ),
      );
    }
    for (const each of opened.maps) await loadOne(each, place.names, url);
    return 0;
  });
}

/** Without regard to how the JSON is spelled. */
function isSame(a: string, b: string): boolean {
  return canonical(a) === canonical(b);
}

function canonical(definition: string): string {
  const parsed: unknown = JSON.parse(definition);
  return JSON.stringify(parsed, (_, value: unknown) =>
    typeof value === "object" && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).toSorted(([x], [y]) => (x < y ? -1 : 1)))
      : value,
  );
}

async function loadOne({ map }: OpenMap, names: InterfaceNames, url: string): Promise<void> {
  const progress = createWorkProgress();
  const { first } = await openRoute({ url, timeoutMs: connectTimeoutMs, warn: () => {} });
  let sums: LoadedRows = { rows: 0, made: 0, strange: 0 };
  try {
    for await (sums of loadMap(first, map, names)) {
      progress.show(`${map.name}: ${sums.rows} rows, ${sums.made} tuples and attributes made`);
    }
  } finally {
    progress.end();
    await first.close();
  }
  say(`${map.name}: read ${sums.rows} rows, made ${sums.made} tuples and attributes`);
  if (sums.strange > 0) {
    warn(`${map.name}: ${sums.strange} rows are of tenants that do not exist, and were left out`);
  }
}
