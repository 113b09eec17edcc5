import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";

import { runCommand } from "../support/commands-process.ts";
import { runPemba } from "../support/pemba.ts";

const loose = "\uFEFFentity user{}\r\nentity doc{relation a @user// why\r\n}";
const neat = "entity user {}\n\nentity doc {\n  relation a @user // why\n}\n";

function folderWith(t: TestContext, files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), "pemba-format-"));
  t.after(() => rmSync(folder, { recursive: true }));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return folder;
}

test("schema format prints the formatted text and leaves the file as it is", async (t) => {
  const cwd = folderWith(t, { "a.perm": loose });
  const { status, stdout, stderr } = await runPemba(["schema", "format", "a.perm"], { cwd });
  assert.deepEqual([status, stdout, stderr], [0, neat, ""]);
  assert.equal(readFileSync(join(cwd, "a.perm"), "utf8"), loose);
});

test("schema format reads standard input", async () => {
  const { status, stdout } = await runPemba(["schema", "format", "-"], { input: loose });
  assert.deepEqual([status, stdout], [0, neat]);
});

test("schema format --write writes the files that change, and no others", async (t) => {
  const cwd = folderWith(t, { "a.perm": loose, "b.perm": neat });
  const before = statSync(join(cwd, "b.perm")).mtimeMs;
  const words = ["schema", "format", "a.perm", "b.perm", "--write"];
  const { status, stdout } = await runCommand(words, { cwd });
  assert.deepEqual([status, stdout], [0, "a.perm\n"]);
  assert.equal(readFileSync(join(cwd, "a.perm"), "utf8"), neat);
  assert.equal(statSync(join(cwd, "b.perm")).mtimeMs, before);
});

test("schema format --check names the files that would change and ends with 1", async (t) => {
  const cwd = folderWith(t, { "a.perm": loose, "b.perm": neat });
  const both = await runCommand(["schema", "format", "--check", "a.perm", "b.perm"], { cwd });
  assert.deepEqual([both.status, both.stdout], [1, "a.perm\n"]);
  assert.equal(readFileSync(join(cwd, "a.perm"), "utf8"), loose);
  const one = await runCommand(["schema", "format", "--check", "b.perm"], { cwd });
  assert.deepEqual([one.status, one.stdout], [0, ""]);
});

test("schema format leaves a file with syntax errors as it is, and writes the others", async (t) => {
  const broken = "entity user{}\nentity doc { relation a user }\n";
  const cwd = folderWith(t, { "a.perm": broken, "b.perm": loose });
  const words = ["schema", "format", "--write", "a.perm", "b.perm"];
  const { status, stdout, stderr } = await runCommand(words, { cwd });
  assert.deepEqual([status, stdout], [2, "b.perm\n"]);
  assert.match(stderr, /^pemba: a\.perm:2:25: expected next token to be SIGN[^\n]*\n$/);
  assert.equal(readFileSync(join(cwd, "a.perm"), "utf8"), broken);
});

test("what schema format does not understand is one line and status 2", async (t) => {
  const cwd = folderWith(t, { "a.perm": neat, "b.perm": neat });
  const mistakes = [
    [[], /expected a file/],
    [["a.perm", "b.perm"], /expected one file, or --write or --check/],
    [["a.perm", "--write", "--check"], /--check: writes nothing/],
    [["-", "--write"], /--write: standard input cannot be written/],
    [["no-such.perm"], /`no-such\.perm` is not there/],
    [["a.perm", "--write=x"], /--write: expected /],
  ] as const;
  for (const [words, expected] of mistakes) {
    const { status, stdout, stderr } = await runCommand(["schema", "format", ...words], { cwd });
    assert.deepEqual([status, stdout], [2, ""], stderr);
    assert.match(stderr, /^pemba: [^\n]+\n$/);
    assert.match(stderr, expected);
  }
});
