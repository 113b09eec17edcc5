import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";

import { openLogger } from "../../src/cli/observe.ts";
import { configOf } from "../support/given-config.ts";

/** What goes into `logger.file` of a line of each level. */
function written(t: TestContext, ...flags: readonly string[]): readonly string[] {
  const folder = mkdtempSync(join(tmpdir(), "pemba-log-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "pemba.log");
  const { logger, close } = openLogger(configOf({ args: [`--log-file=${file}`, ...flags] }));
  logger.error("one");
  logger.warn("two");
  logger.info("three");
  logger.debug("four");
  close();
  return readFileSync(file, "utf8").trim().split("\n");
}

test("`logger.level` leaves out what is less important", (t) => {
  for (const [level, count] of [
    ["error", 1],
    ["warn", 2],
    ["info", 3],
    ["debug", 4],
  ] as const) {
    assert.equal(written(t, `--log-level=${level}`).length, count);
  }
  assert.equal(written(t).length, 3);
});

test("`logger.output` is text for people or JSON for machines", (t) => {
  for (const line of written(t, "--log-output=text")) assert.match(line, /(ERROR|WARN|INFO).*: /);
  for (const line of written(t, "--log-output=json")) assert.ok("msg" in JSON.parse(line));
});

test("a log that is closed listens for no signal", (t) => {
  const count = process.listenerCount("SIGHUP");
  written(t);
  assert.equal(process.listenerCount("SIGHUP"), count);
});

test("a `logger.file` that is a pipe is refused by its name", (t) => {
  const folder = mkdtempSync(join(tmpdir(), "pemba-log-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const pipe = join(folder, "pipe");
  execFileSync("mkfifo", [pipe]);
  const config = configOf({ args: [`--log-file=${pipe}`] });
  assert.throws(() => openLogger(config), {
    plainMessage: `logger.file: cannot write to \`${pipe}\``,
    cause: new Error("it is neither a file nor a device"),
  });
});
