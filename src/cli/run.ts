import type { Command } from "./command.ts";
import { explain } from "./explain.ts";
import { gc } from "./gc.ts";
import { importCommand } from "./import.ts";
import { migrate } from "./migrate.ts";
import { complain, say, sentenceOf } from "./output.ts";
import { serve } from "./serve.ts";
import { version } from "./version.ts";

const commands: readonly Command[] = [serve, migrate, gc, importCommand, explain, version];

/** Runs `pemba` with the words that follow it. Resolves to the exit status and never rejects. */
export async function run(words: readonly string[]): Promise<number> {
  const [word, ...rest] = words;
  if (word === undefined) return complain("which command?", ...overview().split("\n"));
  if (word === "help" || word === "--help" || word === "-h") return help(rest[0]);
  if (word === "--version") return await version.run(rest);
  const command = commands.find(({ name }) => name === word);
  if (command === undefined) return unknown(word);
  if (rest.includes("--help") || rest.includes("-h")) return help(word);
  try {
    return await command.run(rest);
  } catch (error) {
    return complain(sentenceOf(error));
  }
}

function help(word: string | undefined): number {
  const command = commands.find(({ name }) => name === word);
  if (word !== undefined && command === undefined) return unknown(word);
  say(command === undefined ? overview() : command.help());
  return 0;
}

function unknown(word: string): number {
  return complain(`\`${word}\` is not a command, \`pemba help\` lists them`);
}

function overview(): string {
  const width = Math.max(...commands.map(({ name }) => name.length));
  const lines = commands.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`);
  return [
    "usage: pemba <command> [flags]",
    "",
    ...lines,
    `  ${"help".padEnd(width)}  show this, or the flags of a command`,
  ].join("\n");
}
