import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

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
  const commands = await loadCommands();
  const helps = commands.flatMap((command) => [
    [command.name, command.help([])] as const,
    ...[...(command.parts?.values() ?? [])].map(
      (part) => [`${command.name} ${part.name}`, part.help([])] as const,
    ),
  ]);
  for (const [name, help] of helps) {
    assert.ok(help.startsWith(`usage: pemba ${name}`), name);
    // The flags of the configuration are a table, with one line each.
    const wide = help
      .split("\n")
      .filter((line) => line.length > 120 && !/^ {2}--?[a-z]/.test(line));
    assert.deepEqual(wide, [], name);
  }
});
