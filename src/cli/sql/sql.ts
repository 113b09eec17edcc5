import { must } from "../../base/assert.ts";
import type { Config } from "../../config/options.ts";
import type { Command } from "../command.ts";
import { writerUri } from "../migrate.ts";
import { complain, surplus, warn } from "../output.ts";
import { readSettings } from "../settings.ts";
import { disable } from "./disable.ts";
import { enable } from "./enable.ts";
import { list } from "./list.ts";

/** What a word after `sql` does. It resolves to the exit status. */
type SqlAction = (config: Config, url: string) => Promise<number>;

const actions: ReadonlyMap<string, SqlAction> = new Map([
  ["enable", enable],
  ["disable", disable],
]);

export const sql: Command = {
  name: "sql",
  summary: "let applications ask for permissions in their own SQL",
  help: () => `usage: pemba sql enable|disable|list [flags]

  enable   install the functions that applications call, or upgrade them, and make what can be asked
           under the schemas of all tenants
  disable  drop all of that; data and schemas stay
  list     print a function that lists rows of a table page by page: \`pemba sql list\` without flags
           shows how

Servers do the same as enable at their start if \`database.sql.enabled\` and \`database.auto_migrate\`
are true. The keys \`database.sql.*\` say what is made: \`pemba help serve\` lists their flags.

  pemba sql enable --database-uri postgres://pemba@localhost/app --database-sql-questions 'doc.view@user'

The database is that of the configuration: --database-uri, or a variable or file as for serve.`,

  async run(args) {
    if (args[0] === list.name) return await list.run(args.slice(1));
    const settings = readSettings(args, ([word = "", ...rest]) => [
      ...(actions.has(word)
        ? []
        : [`sql: expected ${[...actions.keys()].join(" or ")}, not \`${word}\``]),
      ...surplus("sql", rest),
    ]);
    if (settings.kind === "problems") return complain(...settings.problems);
    settings.warnings.forEach(warn);
    const { config, positionals } = settings;
    const url = writerUri(config);
    if (url === "") return complain("`database.uri`: is empty, expected the database");
    const act = must(actions.get(positionals[0] ?? ""), "a word that was checked");
    return await act(config, url);
  },
};
