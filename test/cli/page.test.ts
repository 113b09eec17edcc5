import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { type Command, loadAll } from "../../src/cli/command.ts";
import { loadCommands } from "../../src/cli/run.ts";
import { cliPage } from "./cli-page.ts";

const page = join(import.meta.dirname, "../../docs/cli.md");

test("docs/cli.md says what the help of the commands says", async () => {
  const text = await cliPage();
  // UPDATE_PAGES=1 writes the page anew after a help text was changed.
  if (process.env["UPDATE_PAGES"] === "1") writeFileSync(page, text);
  assert.equal(readFileSync(page, "utf8"), text);
});

test("every help begins with a usage line, names its command, and fits 120 columns", async () => {
  for (const { name, command } of await namedCommands()) {
    const help = await command.help([]);
    assert.ok(help.startsWith(`usage: pemba ${name}`), name);
    // The flags of the configuration are a table, with one line each.
    const wide = help
      .split("\n")
      .filter((line) => line.length > 120 && !/^ {2}--?[a-z]/.test(line));
    assert.deepEqual(wide, [], name);
  }
});

test("a command has the name by which it is loaded", async () => {
  for (const { name, command } of await namedCommands()) {
    assert.equal(name.split(" ").at(-1), command.name);
  }
});

/** Every command by the words that run it, with its parts. */
async function namedCommands(): Promise<readonly { name: string; command: Command }[]> {
  const named: { name: string; command: Command }[] = [];
  for (const command of await loadCommands()) {
    named.push({ name: command.name, command });
    const parts = command.parts ?? new Map<string, () => Promise<Command>>();
    const loaded = await loadAll(parts);
    for (const [index, word] of [...parts.keys()].entries()) {
      const part = loaded[index] ?? assert.fail();
      named.push({ name: `${command.name} ${word}`, command: part });
    }
  }
  return named;
}
