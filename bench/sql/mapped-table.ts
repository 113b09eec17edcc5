import { readMapFile } from "../../src/cli/sql/map-file.ts";
import { openMaps } from "../../src/cli/sql/map-open.ts";
import { mapStatements } from "../../src/sql/application/map-trigger.ts";
import { onDatabase } from "../../src/store/postgres/connect/on-database.ts";
import { readInterface } from "../../src/store/postgres/sql-interface/install.ts";
import { firstTenant } from "../../test/data/ask-store.ts";
import { onServer } from "../server.ts";
import { entrySchema } from "./install-interface.ts";

export const mappedTable = "app.documents";

/** As the mapped one, without a map. */
export const plainTable = "app.plain_documents";

const maps = `
- table: ${mappedTable}
  tenant: ${firstTenant}
  entity: "document:{id}"
  tuples: ["owner@user:{owner_id}", "viewer@user:{viewer_id}"]
`;

/** Makes the two tables of an application, and the triggers of the map. The SQL interface is installed. */
export async function makeMappedTable(url: string): Promise<void> {
  await onServer(url, async (sql) => {
    await sql.unsafe(`
      create schema app;
      create table ${mappedTable} (id text primary key, owner_id text, viewer_id text);
      create table ${plainTable} (like ${mappedTable} including all);
    `);
    await sql.unsafe((await triggersOf(url)).join(";\n"));
  });
}

async function triggersOf(url: string): Promise<readonly string[]> {
  const { names } = await readInterface(url, entrySchema);
  const read = readMapFile(maps, "maps");
  const opened = await onDatabase(url, async (database) =>
    "problems" in read ? read : await openMaps(read.maps, { database, names }),
  );
  if ("problems" in opened) throw new Error(JSON.stringify(opened.problems));
  return opened.maps.flatMap(({ map, definition }) => mapStatements(map, names.entry, definition));
}
