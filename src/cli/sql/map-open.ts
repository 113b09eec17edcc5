import { quote } from "../../base/quote.ts";
import { placeText, type PlacedMessage } from "../../model-test/file/text-place.ts";
import { soleTenant, type TableMap } from "../../sql/application/table-map.ts";
import type { Database } from "../../store/postgres/connect/database.ts";
import type { InterfaceNames } from "../../store/postgres/sql-interface/interface-names.ts";
import {
  type MapTable,
  readHeadNames,
  readMapTable,
} from "../../store/postgres/sql-interface/map-target.ts";
import { readText } from "../schema-text.ts";
import { checkMap } from "./map-check.ts";
import { definitionOf, readMapFile, type WrittenMap } from "./map-file.ts";
import { readTenantTemplate } from "./map-template.ts";
import { tableNameOf } from "./table-name.ts";

/** A map of a file, checked against the database. */
export interface OpenMap {
  readonly map: TableMap;
  readonly isPartitioned: boolean;
  /** As the table `maps` keeps it. */
  readonly definition: string;
}

/** Maps, or all that is wrong with them, one line each. */
export type OpenMaps =
  | { readonly maps: readonly OpenMap[]; readonly warnings: readonly string[] }
  | { readonly problems: readonly string[] };

/** Reads the maps of a file. Returns them, or the problems. Fails with INVALID_ARGUMENT without the file. */
export function readMaps(
  file: string,
): { readonly maps: readonly WrittenMap[] } | { readonly problems: readonly string[] } {
  return linesOf(readMapFile(readText(file, "FILE"), file));
}

/** Reads a map as the database keeps it. It was checked when it was kept. */
export function readKeptMap(definition: string, name: string): ReturnType<typeof readMaps> {
  return linesOf(readMapFile(definition, `map ${name}`));
}

/** The tables of maps, undefined where there is none. */
export async function tablesOf(
  written: readonly WrittenMap[],
  database: Database,
): Promise<readonly { readonly name: string; readonly table: TableMap["table"] | undefined }[]> {
  const tables: { readonly name: string; readonly table: TableMap["table"] | undefined }[] = [];
  for (const { name, table } of written)
    tables.push({ name, table: await tableOf(table.text, database) });
  return tables;
}

/** Checks maps against their tables and the schemas of their tenants. */
export async function openMaps(
  written: readonly WrittenMap[],
  { database, names }: { readonly database: Database; readonly names: InterfaceNames },
): Promise<OpenMaps> {
  const maps: OpenMap[] = [];
  const warnings: string[] = [];
  const problems: string[] = [];
  for (const each of written) {
    const opened = await openMap(each, database, names);
    if ("problems" in opened) problems.push(...opened.problems.map(lineOf));
    else {
      maps.push(opened.open);
      warnings.push(...opened.warnings);
    }
  }
  return problems.length > 0 ? { problems } : { maps, warnings };
}

async function openMap(
  written: WrittenMap,
  database: Database,
  names: InterfaceNames,
): Promise<
  | { readonly open: OpenMap; readonly warnings: readonly string[] }
  | { readonly problems: readonly PlacedMessage[] }
> {
  const { place, text } = written.table;
  const problem = (message: string) => ({ problems: [{ place, message }] });
  const table = await tableOf(text, database);
  if (table === undefined) return problem(`the table ${quote(text)} does not exist`);
  const tenant = soleTenantOf(written);
  const known = await readHeadNames(database, names, tenant);
  if (known.heads === 0) {
    const message =
      tenant === undefined
        ? "no tenant has a schema, write one first"
        : `the tenant ${quote(tenant)} does not exist, or has no schema, or it was not synced: write one, or run \`pemba sql sync\``;
    return { problems: [{ place: written.tenant.place, message }] };
  }
  const checked = checkMap(written, table, known);
  if ("problems" in checked) return checked;
  const { map, warnings } = checked;
  const isPartitioned = table.kind === "p";
  return { open: { map, isPartitioned, definition: definitionOf(written) }, warnings };
}

/** A template that has columns is found out when the map is checked. */
function soleTenantOf({ tenant }: WrittenMap): string | undefined {
  const read = readTenantTemplate(tenant.text);
  if ("fault" in read) return undefined;
  const texts = read.value.flatMap((part) => (part.kind === "text" ? [part] : []));
  return texts.length === read.value.length ? soleTenant({ tenant: texts }) : undefined;
}

function linesOf(read: ReturnType<typeof readMapFile>): ReturnType<typeof readMaps> {
  return "maps" in read ? read : { problems: read.problems.map(lineOf) };
}

function lineOf({ place, message }: PlacedMessage): string {
  return `${placeText(place)}: ${message}`;
}

async function tableOf(text: string, database: Database): Promise<MapTable | undefined> {
  const name = tableNameOf(text);
  return name && (await readMapTable(database, name));
}
