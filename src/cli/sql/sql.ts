import { must } from "../../base/assert.ts";
import { configFlags } from "../../config/load.ts";
import type { Config } from "../../config/options.ts";
import type { Command } from "../command.ts";
import { complain, surplus, warn } from "../output.ts";
import { readSettings } from "../settings.ts";
import { disable } from "./disable.ts";
import { enable } from "./enable.ts";
import { generate } from "./generate.ts";
import { grant } from "./grant.ts";
import { list } from "./list.ts";
import { map } from "./map.ts";
import { policy } from "./policy.ts";
import { reconcile } from "./reconcile.ts";
import { databaseUri } from "./sql-settings.ts";
import { status } from "./status.ts";
import { sync } from "./sync.ts";

/** What a word after `sql` does. It resolves to the exit status. */
type SqlAction = (config: Config, url: string) => Promise<number>;

const actions: ReadonlyMap<string, SqlAction> = new Map([
  ["enable", enable],
  ["disable", disable],
]);

/** The words after `sql` that have flags of their own. */
const parts: ReadonlyMap<string, Command> = new Map(
  [sync, generate, status, grant, list, policy, map, reconcile].map((part) => [part.name, part]),
);

export const sql: Command = {
  name: "sql",
  summary: "let applications ask for permissions in their own SQL",
  flags: configFlags(),
  words: [...actions.keys()],
  help: (words) => parts.get(words[0] ?? "")?.help(words.slice(1)) ?? overview(),
  parts,

  async run([word = "", ...rest]) {
    const part = parts.get(word);
    if (part !== undefined) return await part.run(rest);
    const settings = readSettings([word, ...rest], ([action = "", ...others]) => [
      ...(actions.has(action) ? [] : [`sql: expected ${known()}, not \`${action}\``]),
      ...surplus("sql", others),
    ]);
    if (settings.kind === "problems") return complain(...settings.problems);
    settings.warnings.forEach(warn);
    const { config, positionals } = settings;
    const act = must(actions.get(positionals[0] ?? ""), "a word that was checked");
    return await act(config, databaseUri(config));
  },
};

function known(): string {
  const words = [...actions.keys(), ...parts.keys()];
  return `${words.slice(0, -1).join(", ")} or ${words.at(-1)}`;
}

function overview(): string {
  const lines = [...parts.values()].map(({ name, summary }) => `  ${name.padEnd(9)}  ${summary}`);
  return `usage: pemba sql ${[...actions.keys(), ...parts.keys()].join("|")} [flags]

  enable     install the functions that applications call, or upgrade them, and make what can be asked
             under the schemas of all tenants
  disable    drop all of that; data and schemas stay
${lines.join("\n")}

\`pemba help sql WORD\` shows the flags of one. Servers do the same as enable at their start if
\`database.sql.enabled\` and \`database.auto_migrate\` are true. The keys \`database.sql.*\` say what is
made: \`pemba help serve\` lists their flags.

  pemba sql enable --database-uri postgres://pemba@localhost/app --database-sql-questions 'doc.view@user'

The database is that of the configuration: --database-uri, or a variable or file as for serve.`;
}
