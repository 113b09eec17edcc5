/** Results and remarks that cannot be written. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { closeSync, existsSync, openSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { commandEnvironment } from "../support/pemba.ts";

const main = join(import.meta.dirname, "../../src/main.ts");

/** What is written to it fails, as on a full disk. */
const full = "/dev/full";
const skip = existsSync(full) ? false : `there is no ${full} on this machine`;

/** Runs a command with one of its outputs on a full disk. */
function runOnFull(words: readonly string[], output: "stdout" | "stderr") {
  const disk = openSync(full, "w");
  try {
    const outputs = output === "stdout" ? [disk, "pipe" as const] : ["pipe" as const, disk];
    return spawnSync(process.execPath, [main, ...words], {
      env: commandEnvironment(),
      stdio: ["ignore", ...outputs],
      encoding: "utf8",
    });
  } finally {
    closeSync(disk);
  }
}

test("a command whose result cannot be written says why", { skip }, () => {
  const { status, stderr } = runOnFull(["version"], "stdout");
  assert.equal(status, 1);
  assert.match(stderr, /^pemba: cannot write to standard output: ENOSPC\b[^\n]*\n$/);
});

test("a command whose remarks cannot be written does its work", { skip }, () => {
  const words = ["config", "--authn-preshared-keys", "unused"];
  const { status, stdout } = runOnFull(words, "stderr");
  assert.equal(status, 0);
  assert.match(stdout, /authn\.preshared\.keys/);
});
