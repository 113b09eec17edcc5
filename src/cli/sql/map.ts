import { configFlags } from "../../config/load.ts";
import type { Config } from "../../config/options.ts";
import { dropMapStatements, mapStatements } from "../../sql/application/map-trigger.ts";
import { onDatabase } from "../../store/postgres/connect/on-database.ts";
import type { Command } from "../command.ts";
import { clusterFlag, oneDatabaseHelp } from "../databases.ts";
import { complain, say, surplus, warn } from "../output.ts";
import { readSettings } from "../settings.ts";
import type { WrittenMap } from "./map-file.ts";
import { loadMaps } from "./map-load.ts";
import { mapNotes } from "./map-notes.ts";
import { openMaps, readMaps, tablesOf } from "./map-open.ts";
import { migrationText } from "./migration-text.ts";
import { onInterface, refuseStaleInterface } from "./on-interface.ts";
import { databaseUri, flagError, isOn, type SqlFlag, switchFlag } from "./sql-settings.ts";

const flags = new Map<string, SqlFlag>([
  ["load", switchFlag],
  ["drop", switchFlag],
  ...clusterFlag,
]);

export const map: Command = {
  name: "map",
  summary: "print triggers that derive tuples and attributes from tables",
  flags: new Map([...configFlags(), ...flags]),
  help: () => `usage: pemba sql map FILE [flags]

Prints SQL that makes triggers, and changes nothing. They keep tuples and attributes in step with the
rows of tables, in the transactions that change the rows. Keep the SQL as a migration of the
application; it can be run again. FILE says which columns are which tuples:

  - table: app.documents
    tenant: "{tenant_id}"
    entity: "document:{id}"
    tuples: ["owner@user:{owner_id}", "parent@folder:{folder_id}", "viewer@group:{team_id}#member"]
    attributes: ["public: {is_public}"]

  table       the table, with its schema
  tenant      the id of the tenant: a text, or a column of the table
  entity      the type and the id of the entity of a row
  tuples      each is a relation and a subject; a column that is null makes no tuple
  attributes  each is a name and a column; null makes no attribute
  name        the name of the map (default that of the table)
  truncate    refuse (default), or delete: all that the map derives goes as well

Names of tables and columns are spelled as in SQL. The file is checked against the tables and the
schemas of the tenants.

  --load  make what the rows that are there give, in batches of 10,000, after the printed SQL has run.
          What is there stays, so it can be run again. The role needs to read and change the tables
  --drop  print SQL that drops the triggers instead. Tuples and attributes stay, and can be written as
          any others

  pemba sql map pemba.maps.yaml > permission-triggers.sql
  psql --file permission-triggers.sql postgres://app_owner@localhost/app

${oneDatabaseHelp}`,

  async run(args) {
    const settings = readSettings(
      args,
      ([file, ...others]) => [
        ...(file === undefined ? ["sql map: expected a file of maps"] : []),
        ...surplus("sql map", others),
      ],
      flags,
    );
    if (settings.kind === "problems") return complain(...settings.problems);
    settings.warnings.forEach(warn);
    const { config, positionals, values } = settings;
    const read = readMaps(positionals[0] ?? "");
    if ("problems" in read) return complain(...read.problems);
    const url = databaseUri({ config, values });
    await refuseStaleInterface(config, url);
    const isLoad = isOn(values, "load");
    const isDrop = isOn(values, "drop");
    if (isLoad && isDrop) throw flagError("load", "does not go with --drop");
    if (isLoad) return await loadMaps(read.maps, config, url);
    return isDrop
      ? await printDrop(read.maps, config, url)
      : await printMaps(read.maps, config, url);
  },
};

async function printMaps(
  written: readonly WrittenMap[],
  config: Config,
  url: string,
): Promise<number> {
  return await onInterface(config, url, async (_, place) => {
    const opened = await openMaps(written, place);
    if ("problems" in opened) return complain(...opened.problems);
    opened.warnings.forEach(warn);
    say(
      migrationText(
        opened.maps.flatMap(({ map: each, isPartitioned }, index) => [
          ...(index === 0 ? [] : [""]),
          ...mapNotes(each, isPartitioned),
        ]),
        opened.maps.flatMap(({ map: each, definition }) =>
          mapStatements(each, place.names.entry, definition),
        ),
      ),
    );
    return 0;
  });
}

async function printDrop(
  written: readonly WrittenMap[],
  config: Config,
  url: string,
): Promise<number> {
  const tables = await onDatabase(url, async (database) => await tablesOf(written, database));
  const entry = config["database.sql.schema"];
  const names = written.map(({ name }) => `\`${name}\``).join(", ");
  const notes = [
    `Drops the triggers of the maps ${names}.`,
    "What they derived stays, and can be written and deleted as anything else.",
  ];
  say(
    migrationText(
      notes,
      tables.flatMap((each) => dropMapStatements(each, entry)),
    ),
  );
  return 0;
}
