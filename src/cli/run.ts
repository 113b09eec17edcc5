import { suggest } from "../base/suggest.ts";
import { type Command, type CommandLoaders, loadAll } from "./command.ts";
import { complain, messageOf, say, wrongWord } from "./output.ts";
import { fitText } from "./terminal.ts";

/** A health probe may take less time than to load the server. */
const commands: CommandLoaders = new Map([
  ["serve", async () => (await import("./serve-command.ts")).serve],
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
  ["cluster", async () => (await import("./cluster.ts")).cluster],
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
  const command = await load();
  const problem = wrongPart(command, rest[0]);
  if (problem !== undefined) return complain(problem);
  say(fitText(await command.help(rest), process.stdout));
  return 0;
}

/** What is wrong with the word behind a command that has parts. Undefined if nothing is. */
function wrongPart(
  { name, parts, words = [] }: Command,
  word: string | undefined,
): string | undefined {
  if (parts === undefined || word === undefined || word.startsWith("-")) return undefined;
  const known = [...words, ...parts.keys()];
  return known.includes(word) ? undefined : wrongWord(name, known, word);
}

function unknown(word: string): number {
  const meant = suggest(word, [...commands.keys()]);
  return complain(`\`${word}\` is not a command${meant}, \`pemba help\` lists them`);
}

/** Every command, in the order of the help. */
export async function loadCommands(): Promise<readonly Command[]> {
  return await loadAll(commands);
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
