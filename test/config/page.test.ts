import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { flagHelp } from "../../src/config/load.ts";
import { variableOf } from "../../src/config/option.ts";
import { optionKeys, options } from "../../src/config/options.ts";
import { configurationPage } from "./configuration-page.ts";

const page = join(import.meta.dirname, "../../docs/configuration.md");

test("docs/configuration.md says what the table of keys says", () => {
  // UPDATE_PAGES=1 writes the page anew after the table was changed.
  if (process.env["UPDATE_PAGES"] === "1") writeFileSync(page, configurationPage());
  assert.equal(readFileSync(page, "utf8"), configurationPage());
});

test("no two keys share a flag, and so none share a variable", () => {
  const flags = optionKeys.map((key) => options[key].flag);
  assert.equal(new Set(flags).size, flags.length);
});

test("a variable is its flag in upper case after SERVICE_", () => {
  assert.equal(variableOf("database-max-retries"), "SERVICE_DATABASE_MAX_RETRIES");
});

test("the help of serve has a line for every flag", () => {
  const help = flagHelp();
  for (const key of optionKeys) assert.match(help, new RegExp(`^  --${options[key].flag} `, "m"));
});
