import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

const root = join(import.meta.dirname, "../..");
const tools = join(root, "node_modules/.bin");

function buf(args: readonly string[]): void {
  const path = `${tools}:${process.env["PATH"] ?? ""}`;
  execFileSync(join(tools, "buf"), args, {
    cwd: root,
    env: { ...process.env, PATH: path },
    stdio: "pipe",
  });
}

function contentOf(folder: string): ReadonlyMap<string, string> {
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" });
  return new Map(
    files
      .filter((name) => name.endsWith(".ts"))
      .toSorted()
      .map((name) => [name, readFileSync(join(folder, name), "utf8")]),
  );
}

test("the protocol files are sound and formatted", () => {
  buf(["lint"]);
  buf(["format", "--diff", "--exit-code"]);
});

test("generating from the protocol files gives exactly what is committed", (t) => {
  const folder = mkdtempSync(join(tmpdir(), "pemba-gen-"));
  t.after(() => rmSync(folder, { recursive: true }));
  // The folder of the plugin stands in the template, below the one that is given here.
  buf(["generate", "--output", folder]);
  const made = contentOf(join(folder, "src/gen"));
  assert.ok(made.size > 10);
  assert.deepEqual(made, contentOf(join(root, "src/gen")));
});
