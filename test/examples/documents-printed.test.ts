import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { test } from "node:test";

import postgres from "postgres";

import { connectPemba } from "../../examples/documents/src/data/pemba.ts";
import { tenant } from "../../examples/documents/src/settings.ts";
import { createTestDatabase } from "../support/database.ts";
import { serveHere } from "../support/serve-here.ts";

const root = join(import.meta.dirname, "../..");
const example = join(root, "examples/documents");
const printed = "examples/documents/sql/printed";

test("the files in sql/printed are what the commands of the README print", async (t) => {
  const { url, drop } = await createTestDatabase();
  t.after(drop);
  const env = {
    SERVICE_DATABASE_ENGINE: "postgres",
    SERVICE_DATABASE_URI: url,
    SERVICE_DATABASE_SQL_ENABLED: "true",
  };
  // Policies are printed with a warning for a permission that the tenant's schema lacks.
  const { url: pembaUrl } = await serveHere(t, [], env);
  const pemba = connectPemba({ url: pembaUrl, token: "", tenant });
  await pemba.writeSchema(readFileSync(join(example, "schema.perm"), "utf8"));
  const owner = postgres(url, { max: 1 });
  for (const name of ["tables.sql", "shares.sql"]) {
    await owner.unsafe(readFileSync(join(example, "sql", name), "utf8")).simple();
  }
  await owner.end();

  const folder = mkdtempSync(join(tmpdir(), "pemba-example-"));
  t.after(() => rmSync(folder, { recursive: true }));
  mkdirSync(join(folder, printed), { recursive: true });
  cpSync(join(example, "pemba.maps.yaml"), join(folder, "examples/documents/pemba.maps.yaml"));
  const shell = spawn("bash", ["--norc", "-euc", commandsOfReadme(url)], { cwd: folder });
  const [said, problems] = await Promise.all([text(shell.stdout), text(shell.stderr)]);
  assert.equal(said + problems, "");

  if (process.env["UPDATE_PAGES"] === "1") {
    cpSync(join(folder, printed), join(root, printed), { recursive: true });
  }
  assert.deepEqual(contents(join(root, printed)), contents(join(folder, printed)));
});

/** The commands of the README that print files, on another database. */
function commandsOfReadme(url: string): string {
  const readme = readFileSync(join(example, "README.md"), "utf8");
  const blocks = [...readme.matchAll(/^```sh[^\n]*\n([^]*?)^```$/gm)].map(
    ([, block = ""]) => block,
  );
  const commands = blocks.find((block) => block.includes(" > $printed/"));
  assert.ok(commands !== undefined);
  const main = join(root, "src/main.ts");
  return commands
    .replace(/(?<=^export SERVICE_DATABASE_URI=).*$/m, url)
    .replaceAll("npx pemba", `"${process.execPath}" "${main}"`);
}

function contents(folder: string): Readonly<Record<string, string>> {
  const names = readdirSync(folder).toSorted();
  return Object.fromEntries(names.map((name) => [name, readFileSync(join(folder, name), "utf8")]));
}
