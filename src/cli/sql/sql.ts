import { must } from "../../base/assert.ts";
import { configFlags } from "../../config/load.ts";
import type { Config } from "../../config/options.ts";
import { type Command, type CommandLoaders, loadAll } from "../command.ts";
import { clusterFlag, eachDatabaseHelp, onEach } from "../databases.ts";
import { complain, surplus, warn, wrongWord } from "../output.ts";
import { readSettings } from "../settings.ts";
import { databaseList } from "./sql-settings.ts";

/** What a word after `sql` does. It resolves to the exit status. */
type SqlAction = (config: Config, url: string) => Promise<number>;

const actions: ReadonlyMap<string, () => Promise<SqlAction>> = new Map([
  ["enable", async () => (await import("./enable.ts")).enable],
  ["disable", async () => (await import("./disable.ts")).disable],
]);

/** The words after `sql` that have flags of their own. */
const parts: CommandLoaders = new Map([
  ["sync", async () => (await import("./sync.ts")).sync],
  ["generate", async () => (await import("./generate.ts")).generate],
  ["status", async () => (await import("./status.ts")).status],
  ["grant", async () => (await import("./grant.ts")).grant],
  ["list", async () => (await import("./list.ts")).list],
  ["policy", async () => (await import("./policy.ts")).policy],
  ["map", async () => (await import("./map.ts")).map],
  ["reconcile", async () => (await import("./reconcile.ts")).reconcile],
]);

const known = [...actions.keys(), ...parts.keys()];

export const sql: Command = {
  name: "sql",
  summary: "let applications ask for permissions in their own SQL",
  flags: new Map([...configFlags(), ...clusterFlag]),
  words: [...actions.keys()],
  parts,

  async help([word = "", ...rest]) {
    const load = parts.get(word);
    return load === undefined ? await overview() : await (await load()).help(rest);
  },

  async run([word = "", ...rest]) {
    const load = parts.get(word);
    if (load !== undefined) return await (await load()).run(rest);
    const settings = readSettings(
      [word, ...rest],
      ([action = "", ...others]) => [
        ...(actions.has(action) ? [] : [wrongWord("sql", known, action)]),
        ...surplus("sql", others),
      ],
      clusterFlag,
    );
    if (settings.kind === "problems") return complain(...settings.problems);
    settings.warnings.forEach(warn);
    const { config, positionals } = settings;
    const loadAction = must(actions.get(positionals[0] ?? ""), "a word that was checked");
    const act = await loadAction();
    return await onEach(databaseList(settings), async (url) => await act(config, url));
  },
};

async function overview(): Promise<string> {
  const loaded = await loadAll(parts);
  const lines = loaded.map(({ name, summary }) => `  ${name.padEnd(9)}  ${summary}`);
  return `usage: pemba sql ${known.join("|")} [flags]

  enable     install the functions that applications call, or upgrade them, and make what can be asked
             under the schemas of all tenants
  disable    drop all of that; data and schemas stay. Set \`database.sql.enabled\` to false first, and
             restart the servers: one that has it refuses schema writes then
${lines.join("\n")}

\`pemba help sql WORD\` shows the flags of one. Servers do the same as enable at their start if
\`database.sql.enabled\` and \`database.auto_migrate\` are true. The keys \`database.sql.*\` say what is
made: \`pemba help serve\` lists their flags.

  pemba sql enable --database-uri postgres://pemba@localhost/app --database-sql-questions 'doc.view@user'

${eachDatabaseHelp}`;
}
