import { suggest } from "../base/suggest.ts";
import type { Command } from "./command.ts";
import { complain, say, messageOf } from "./output.ts";
import { fitText } from "./terminal.ts";

/**
 * Every command, in the order of the help. Each is loaded on use, because loading the server takes
 * longer than a health probe may take.
 */
const commands: ReadonlyMap<string, () => Promise<Command>> = new Map([
  ["serve", async () => (await import("./serve.ts")).serve],
  ["config", async () => (await import("./config.ts")).config],
  ["health", async () => (await import("./health.ts")).health],
  ["migrate", async () => (await import("./migrate.ts")).migrate],
  ["sql", async () => (await import("./sql/sql.ts")).sql],
  ["gc", async () => (await import("./gc.ts")).gc],
  ["import", async () => (await import("./import.ts")).importCommand],
  ["export", async () => (await import("./export/export.ts")).exportCommand],
  ["check", async () => (await import("./questions/check.ts")).check],
  ["explain", async () => (await import("./questions/explain.ts")).explain],
  ["lookup", async () => (await import("./questions/lookup.ts")).lookup],
  ["who", async () => (await import("./questions/who.ts")).who],
  ["can", async () => (await import("./questions/can.ts")).can],
  ["expand", async () => (await import("./questions/expand.ts")).expand],
  ["tuple", async () => (await import("./data/tuple.ts")).tuple],
  ["attribute", async () => (await import("./data/attribute.ts")).attribute],
  ["watch", async () => (await import("./watch/watch.ts")).watch],
  ["tenant", async () => (await import("./tenant.ts")).tenant],
  ["schema", async () => (await import("./schema/schema.ts")).schema],
  ["bundle", async () => (await import("./bundle/bundle.ts")).bundle],
  ["context", async () => (await import("./context/context.ts")).context],
  ["plan", async () => (await import("./plan.ts")).plan],
  ["test", async () => (await import("./test.ts")).test],
  ["validate", async () => (await import("./validate.ts")).validate],
  ["coverage", async () => (await import("./coverage.ts")).coverage],
  ["lsp", async () => (await import("./lsp.ts")).lsp],
  ["ast", async () => (await import("./ast.ts")).ast],
  [
    "completion",
    async () => (await import("./completion/completion.ts")).completionCommand(loadCommands),
  ],
  ["version", async () => (await import("./version.ts")).version],
]);

/** Runs `pemba` with these arguments. Resolves to the exit status and never rejects. */
export async function run(words: readonly string[]): Promise<number> {
  const [word, ...rest] = words;
  if (word === undefined) {
    const status = complain("which command?");
    process.stderr.write(`${fitText(await overview(), process.stderr)}\n`);
    return status;
  }
  if (word === "help" || word === "--help" || word === "-h")
    return await help(rest[0], rest.slice(1));
  const name = word === "--version" ? "version" : word;
  const load = commands.get(name);
  if (load === undefined) return unknown(word);
  if (rest.includes("--help") || rest.includes("-h")) return await help(name, rest);
  try {
    const command = await load();
    return await command.run(rest);
  } catch (error) {
    return complain(messageOf(error));
  }
}

async function help(word: string | undefined, rest: readonly string[]): Promise<number> {
  if (word === undefined) {
    say(fitText(await overview(), process.stdout));
    return 0;
  }
  const load = commands.get(word);
  if (load === undefined) return unknown(word);
  say(fitText((await load()).help(rest), process.stdout));
  return 0;
}

function unknown(word: string): number {
  const meant = suggest(word, [...commands.keys()]);
  return complain(`\`${word}\` is not a command${meant}, \`pemba help\` lists them`);
}

/** Every command, in the order of the help. */
export async function loadCommands(): Promise<readonly Command[]> {
  return await Promise.all([...commands.values()].map(async (load) => await load()));
}

async function overview(): Promise<string> {
  const loaded = await loadCommands();
  const width = Math.max(...loaded.map(({ name }) => name.length));
  const lines = loaded.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`);
  return [
    "usage: pemba <command> [flags]",
    "",
    ...lines,
    `  ${"help".padEnd(width)}  show this, or the flags of a command`,
  ].join("\n");
}
