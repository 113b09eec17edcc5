import { must } from "../base/assert.ts";
import { configFlags } from "../config/load.ts";
import { migrateDown, migrateUp, migrationStatus } from "../store/postgres/migrate.ts";
import type { Command } from "./command.ts";
import { clusterFlag, databasesOf, eachDatabaseHelp, onEach } from "./databases.ts";
import { complain, say, surplus, warn, wrongWord } from "./output.ts";
import { readSettings } from "./settings.ts";

export const migrate: Command = {
  name: "migrate",
  summary: "change the tables of the database",
  flags: new Map([...configFlags(), ...clusterFlag]),
  words: ["up", "down", "status"],
  help: () => `usage: pemba migrate up|down|status [flags]

  up      apply all pending migrations
  down    undo the latest migration, which deletes the data in its tables
  status  list all migrations, and when they were applied

${eachDatabaseHelp}`,

  async run(args) {
    const settings = readSettings(
      args,
      ([direction = "", ...rest]) => [
        ...(directions.has(direction)
          ? []
          : [wrongWord("migrate", [...directions.keys()], direction)]),
        ...surplus("migrate", rest),
      ],
      clusterFlag,
    );
    if (settings.kind === "problems") return complain(...settings.problems);
    settings.warnings.forEach(warn);
    const { config, positionals, values } = settings;
    const run = must(directions.get(positionals[0] ?? ""), "a direction that was checked");
    return await onEach(databasesOf(config, values, "the database to migrate"), run);
  },
};

/** What each word after `migrate` does. It resolves to the exit status. */
const directions: ReadonlyMap<string, (url: string) => Promise<number>> = new Map([
  ["up", async (url) => report("applied", await migrateUp(url), "no migration is pending")],
  [
    "down",
    async (url) => report("took back", await migrateDown(url, 1), "no migration is applied"),
  ],
  ["status", showStatus],
]);

function report(verb: string, names: readonly string[], none: string): number {
  say(names.length === 0 ? none : names.map((name) => `${verb} ${name}`).join("\n"));
  return 0;
}

async function showStatus(url: string): Promise<number> {
  for (const { name, appliedAt, isNewer } of await migrationStatus(url)) {
    const state = appliedAt === undefined ? "pending".padEnd(24) : appliedAt.toISOString();
    say(`${state}  ${name}${isNewer ? "  (of a newer version)" : ""}`);
  }
  return 0;
}
