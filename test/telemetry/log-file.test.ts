import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { setTimeout as wait } from "node:timers/promises";

import { LogFile } from "../../src/telemetry/log-file.ts";

interface Place {
  readonly folder: string;
  readonly path: string;
  readonly warnings: string[];
  readonly open: () => LogFile;
}

function place(t: TestContext): Place {
  const folder = mkdtempSync(join(tmpdir(), "pemba-log-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const warnings: string[] = [];
  const path = join(folder, "pemba.log");
  return { folder, path, warnings, open: () => new LogFile(path, (text) => warnings.push(text)) };
}

/** Writes lines, with a number each, until the condition holds; gives the number of the last. */
async function writeUntil(log: LogFile, holds: () => boolean): Promise<number> {
  for (let number = 1; ; number++) {
    log.write(`${number}\n`);
    if (holds()) return number;
    await wait(20);
  }
}

function linesOf(path: string): readonly string[] {
  try {
    return readFileSync(path, "utf8").split("\n").slice(0, -1);
  } catch {
    return [];
  }
}

function numbersTo(last: number): readonly string[] {
  return Array.from({ length: last }, (_, index) => String(index + 1));
}

test("a file that is moved away is followed by one of its name, and no line is lost", async (t) => {
  const { path, warnings, open } = place(t);
  const log = open();
  log.write("first\n");
  renameSync(path, `${path}.1`);
  const last = await writeUntil(log, () => linesOf(path).length > 0);
  assert.deepEqual([...linesOf(`${path}.1`), ...linesOf(path)], ["first", ...numbersTo(last)]);
  assert.deepEqual(warnings, []);
});

test("what is neither a file nor a device is not opened, nor when it takes the place of the file", (t) => {
  const { path, warnings, open } = place(t);
  execFileSync("mkfifo", [path]);
  assert.throws(open, /neither a file nor a device/);
  rmSync(path);
  const log = open();
  rmSync(path);
  execFileSync("mkfifo", [path]);
  log.reopen();
  log.write("line\n");
  assert.equal(warnings.length, 1);
  assert.match(warnings[0] ?? "", /neither a file nor a device/);
});

test("a device is opened, and the pipe that standard output leads to", () => {
  new LogFile("/dev/null", assert.fail).write("gone\n");
  const { href } = new URL("../../src/telemetry/log-file.ts", import.meta.url);
  const script = `import("${href}").then(({ LogFile }) =>
    new LogFile("/dev/stdout", console.error).write("line\\n"))`;
  const words = ["-c", '"$0" -e "$1" | cat', process.execPath, script];
  assert.equal(execFileSync("sh", words, { encoding: "utf8" }), "line\n");
});

test("reopening leads to the new file at once", (t) => {
  const { path, open } = place(t);
  const log = open();
  log.write("old\n");
  renameSync(path, `${path}.1`);
  log.reopen();
  log.write("new\n");
  assert.deepEqual([linesOf(`${path}.1`), linesOf(path)], [["old"], ["new"]]);
});

test("a file that is cut short goes on from its beginning, without a hole", (t) => {
  const { path, open } = place(t);
  const log = open();
  log.write("copied away\n");
  truncateSync(path);
  log.write("next\n");
  assert.equal(readFileSync(path, "utf8"), "next\n");
});

test("while its folder is gone lines are kept, and are written when it is back", async (t) => {
  const { folder, path, warnings, open } = place(t);
  const log = open();
  rmSync(folder, { recursive: true });
  const last = await writeUntil(log, () => warnings.length > 0);
  assert.match(warnings[0] ?? "", /cannot write to `.*pemba\.log`: .*ENOENT/);
  mkdirSync(folder);
  log.write("back\n");
  // Lines go to the file that was removed until it is looked whether it is still there.
  assert.deepEqual(linesOf(path).slice(-2), [String(last), "back"]);
  assert.match(warnings[1] ?? "", /can be written again$/);
  assert.equal(warnings.length, 2);
});

test("a full disk ends nothing, is reported once, and lost lines are counted", async (t) => {
  const { path, warnings, open } = place(t);
  symlinkSync("/dev/full", path);
  const log = open();
  const long = `${"x".repeat(100_000)}\n`;
  for (let number = 0; number < 20; number++) log.write(long);
  assert.equal(warnings.length, 1);
  assert.match(warnings[0] ?? "", /ENOSPC/);
  rmSync(path);
  log.reopen();
  log.write("room again\n");
  // Ten of them are less than what is kept, and the last line is short.
  assert.deepEqual(
    linesOf(path).map((line) => line.length),
    [...Array(10).fill(100_000), 10],
  );
  assert.match(warnings[1] ?? "", /can be written again, 10 lines are lost$/);
});
