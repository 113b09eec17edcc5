import type { FlagKind } from "../config/flags.ts";
import { boolean, someDuration } from "../config/kind.ts";
import { configFlags } from "../config/load.ts";
import type { Config } from "../config/options.ts";
import type { Database } from "../store/postgres/connect/database.ts";
import { onDatabase } from "../store/postgres/connect/on-database.ts";
import { collectGarbage, type GarbageWindow, previewGarbage } from "../store/postgres/garbage.ts";
import { refusePendingMigrations } from "../store/postgres/migrate.ts";
import type { Command } from "./command.ts";
import { clusterFlag, databasesOf, eachDatabaseHelp, onEach } from "./databases.ts";
import { complain, say, surplus, warn } from "./output.ts";
import { readSettings } from "./settings.ts";
import { onInterface } from "./sql/on-interface.ts";

const flags = new Map<string, FlagKind>([
  ["window", {}],
  ["dry-run", { bare: "true" }],
  ...clusterFlag,
]);

export const gc: Command = {
  name: "gc",
  summary: "remove old history from the database",
  flags: new Map([...configFlags(), ...flags]),
  help: () => `usage: pemba gc [flags]

Removes the logged changes that no token of the window needs. Older tokens are refused from then on;
data and schemas stay as they are. If \`database.sql.enabled\` is true, it also removes the functions of
schema versions that were no head in the window. Servers do the same if \`database.garbage_collection.enabled\` is
true, and gc can run beside them.

The times in the log decide: if a transaction that began before the window was still open when a token
was given out, the token is refused, too.

  --window   minimum time that a token stays valid (default: database.garbage_collection.window)
  --dry-run  only show what would be removed

${eachDatabaseHelp}`,

  async run(args) {
    const settings = readSettings(args, (words) => surplus("gc", words), flags);
    if (settings.kind === "problems") return complain(...settings.problems);
    settings.warnings.forEach(warn);
    const { config, values } = settings;
    const windowText = values.get("window");
    const windowMs =
      windowText === undefined
        ? config["database.garbage_collection.window"]
        : someDuration.read(windowText);
    if (windowMs === undefined) return complain(`--window: expected ${someDuration.expected}`);
    const isDryRun = boolean.read(values.get("dry-run") ?? "false");
    if (isDryRun === undefined) return complain(`--dry-run: expected ${boolean.expected}`);
    return await onEach(
      databasesOf(config, values, "the database to clean"),
      async (url) => await clean(url, { config, windowMs, isDryRun }),
    );
  },
};

async function clean(
  url: string,
  {
    config,
    windowMs,
    isDryRun,
  }: { readonly config: Config; readonly windowMs: number; readonly isDryRun: boolean },
): Promise<number> {
  await refusePendingMigrations(url);
  if (config["database.sql.enabled"] && !isDryRun) {
    const removed = await onInterface(config, url, async (one) => await one.removeUnused(windowMs));
    say(`removed ${removed} functions of the SQL interface`);
  }
  return await onDatabase(url, async (database) =>
    isDryRun
      ? await preview(database, windowMs)
      : await collect(database, {
          windowMs,
          timeoutMs: config["database.garbage_collection.timeout"],
          byLog: true,
        }),
  );
}

async function preview(database: Database, windowMs: number): Promise<number> {
  const { horizon, logged, expired } = await previewGarbage(database, windowMs);
  say(`would remove ${expired} of ${logged} logged changes, those below transaction ${horizon}`);
  return 0;
}

async function collect(database: Database, options: GarbageWindow): Promise<number> {
  const { removed, isComplete, milliseconds } = await collectGarbage(database, options);
  say(`removed ${removed} logged changes in ${(milliseconds / 1000).toFixed(1)} s`);
  if (isComplete) return 0;
  return complain(
    "there is more to remove: the timeout was reached (`database.garbage_collection.timeout`), or a server is removing it",
  );
}
