import { must } from "../base/assert.ts";
import { configFlags } from "../config/load.ts";
import type { Config } from "../config/options.ts";
import { migrateDown, migrateUp, migrationStatus } from "../store/postgres/migrate.ts";
import type { Command } from "./command.ts";
import { complain, say, surplus, warn } from "./output.ts";
import { readSettings } from "./settings.ts";

export const migrate: Command = {
  name: "migrate",
  summary: "change the tables of the database",
  flags: configFlags(),
  words: ["up", "down", "status"],
  help: () => `usage: pemba migrate up|down|status [flags]

  up      apply all pending migrations
  down    undo the latest migration, which deletes the data in its tables
  status  list all migrations, and when they were applied

The database is that of the configuration: --database-uri, or a variable or file as for serve.`,

  async run(args) {
    const settings = readSettings(args, ([direction = "", ...rest]) => [
      ...(directions.has(direction)
        ? []
        : [`migrate: expected up, down or status, not \`${direction}\``]),
      ...surplus("migrate", rest),
    ]);
    if (settings.kind === "problems") return complain(...settings.problems);
    settings.warnings.forEach(warn);
    const url = writerUri(settings.config);
    if (url === "") return complain("`database.uri`: is empty, expected the database to migrate");
    const run = directions.get(settings.positionals[0] ?? "");
    return await must(run, "a direction that was checked")(url);
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

/** Migrations run on the database that takes writes. */
export function writerUri(config: Config): string {
  return config["database.writer.uri"] === ""
    ? config["database.uri"]
    : config["database.writer.uri"];
}

function report(verb: string, names: readonly string[], none: string): number {
  say(names.length === 0 ? none : names.map((name) => `${verb} ${name}`).join("\n"));
  return 0;
}

async function showStatus(url: string): Promise<number> {
  for (const { name, appliedAt } of await migrationStatus(url)) {
    say(`${appliedAt === undefined ? "pending".padEnd(24) : appliedAt.toISOString()}  ${name}`);
  }
  return 0;
}
