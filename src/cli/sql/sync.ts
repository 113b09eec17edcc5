import { configFlags } from "../../config/load.ts";
import type { SyncedHeads } from "../../store/postgres/sql-interface/heads.ts";
import type { SqlInterface } from "../../store/postgres/sql-interface/sql-interface.ts";
import type { Command } from "../command.ts";
import { clusterFlag, eachDatabaseHelp, onEach } from "../databases.ts";
import { complain, say, warn } from "../output.ts";
import { readSchemaText } from "../schema-text.ts";
import { onInterface, refuseStaleInterface } from "./on-interface.ts";
import { planSchemaFile } from "./plan-schema-file.ts";
import {
  databaseList,
  flagError,
  isOn,
  itemsOf,
  listFlag,
  readSqlSettings,
  type SqlFlag,
  switchFlag,
} from "./sql-settings.ts";

const flags = new Map<string, SqlFlag>([
  ["schema", {}],
  ["tenant", listFlag],
  ["dry-run", switchFlag],
  ...clusterFlag,
]);

export const sync: Command = {
  name: "sync",
  summary: "make what can be asked follow the schemas of the tenants",
  flags: new Map([...configFlags(), ...flags]),
  help: () => `usage: pemba sql sync [flags]

Makes the functions that are missing for the schemas of all tenants, and notes anew what can be asked
under each. It is needed after the keys \`database.sql.*\` were changed, or where servers may not make
functions (\`database.sql.sync\` is \`command\`): then it runs with --schema before a schema is written.

  --schema   makes the functions of the schema in this file, and writes no schema. Functions of two
             schemas that ask in the same way are the same, so those of a schema to come do no harm.
  --tenant   only the schema of this tenant; may be given several times
  --dry-run  only show what would be made

  pemba sql sync --schema next.perm --database-uri postgres://maker@localhost/app

The role is the owner of the database schema \`pemba_plans\`, or has \`usage\` and \`create\` on it, \`select\`,
\`insert\` and \`update\` on its table \`plans\`, \`select\` on its table \`installation\`, and \`execute\` on its
functions \`missing_functions\`, \`make_functions\` and \`keep_function\`, and on \`lock_key\` beside Pemba's
tables. This is enough for --schema.

${eachDatabaseHelp}`,

  async run(args) {
    const settings = readSqlSettings("sync", args, flags);
    if (settings.kind === "problems") return complain(...settings.problems);
    settings.warnings.forEach(warn);
    const { config, values } = settings;
    const file = values.get("schema");
    const tenants = values.has("tenant") ? itemsOf(values, "tenant") : undefined;
    if (file !== undefined && tenants !== undefined) {
      throw flagError("tenant", "does not go with --schema: all tenants share functions");
    }
    const text = file === undefined ? undefined : readSchemaText(file, "--schema");
    const databases = databaseList(settings);
    if (tenants !== undefined && databases.length > 1) {
      throw flagError("tenant", "needs --cluster, which names the cluster of the tenants");
    }
    const isDryRun = isOn(values, "dry-run");
    return await onEach(databases, async (url) => {
      await refuseStaleInterface(config, url);
      return await onInterface(config, url, async (sqlInterface) =>
        file === undefined || text === undefined
          ? await syncHeads(sqlInterface, { tenants, isDryRun })
          : await syncFile(sqlInterface, { file, text, isDryRun }),
      );
    });
  },
};

async function syncFile(
  sqlInterface: SqlInterface,
  {
    isDryRun,
    ...schema
  }: { readonly file: string; readonly text: string; readonly isDryRun: boolean },
): Promise<number> {
  await planSchemaFile(sqlInterface, schema);
  if (isDryRun) {
    const missing = await sqlInterface.missingFunctions(schema.text);
    say(`would make ${missing.length} functions`);
  } else {
    say(`made ${await sqlInterface.makeFunctions(schema.text)} functions`);
  }
  return 0;
}

async function syncHeads(
  sqlInterface: SqlInterface,
  {
    tenants,
    isDryRun,
  }: { readonly tenants: readonly string[] | undefined; readonly isDryRun: boolean },
): Promise<number> {
  const chosen = { all: true, tenants };
  if (isDryRun) {
    const preview = await sqlInterface.previewHeads(chosen);
    say(
      `would sync the schemas of ${preview.synced} tenants, and make ${preview.functions} functions`,
    );
    return complainOf(preview);
  }
  const done = await sqlInterface.syncHeads({ ...chosen, mayMake: true });
  say(`synced the schemas of ${done.synced} tenants`);
  return complainOf(done);
}

function complainOf({ unsynced, absent }: SyncedHeads): number {
  const problems = [
    ...unsynced.map(
      ({ tenant, error }) =>
        `the schema of the tenant \`${tenant}\` cannot be asked in SQL: ${error.plainMessage}`,
    ),
    ...absent.map((tenant) => `--tenant: \`${tenant}\` does not exist, or has no schema`),
  ];
  return problems.length === 0 ? 0 : complain(...problems);
}
