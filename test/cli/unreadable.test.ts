/** Files that no command reads to their end. */
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, openSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";

import { readWholeFile } from "../../src/base/read-file.ts";
import { runCommand } from "../support/commands-process.ts";

function temporaryFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "pemba-files-"));
  t.after(() => rmSync(folder, { recursive: true }));
  return folder;
}

/** What a command reads before it asks a server. */
const commands: readonly ((file: string) => readonly string[])[] = [
  (file) => ["schema", "lint", file],
  (file) => ["schema", "format", file],
  (file) => ["schema", "write", file],
  (file) => ["plan", file, "doc", "view"],
  (file) => ["bundle", "write", file],
  (file) => ["check", "doc:1", "view", "user:1", "--context", file],
];

test("a device and a file that is too large are refused by every command", async (t) => {
  const large = join(temporaryFolder(t), "large.perm");
  writeFileSync(large, "");
  truncateSync(large, 8 * 1024 * 1024 + 1);
  for (const words of commands) {
    for (const [file, problem] of [
      ["/dev/zero", "is a device, expected a file"],
      [large, "is larger than 8388608 bytes"],
    ] as const) {
      const { status, stdout, stderr } = await runCommand(words(file));
      const shown = stdout + stderr;
      assert.notEqual(status, 0, shown);
      assert.ok(shown.includes(`\`${file}\` ${problem}`), shown);
    }
  }
});

test("a pipe is read to its end", (t) => {
  const folder = temporaryFolder(t);
  const [file, pipe] = [join(folder, "file"), join(folder, "pipe")];
  const content = "entity user {}\n".repeat(10_000);
  writeFileSync(file, content);
  execFileSync("mkfifo", [pipe]);
  const writer = spawn("tee", [pipe], { stdio: [openSync(file, "r"), "ignore", "ignore"] });
  t.after(() => writer.kill("SIGKILL"));
  assert.equal(readWholeFile(pipe).toString(), content);
});
