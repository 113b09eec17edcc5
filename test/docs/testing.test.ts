import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";

import { runCommand } from "../support/commands-process.ts";
import type { Finished } from "../support/pemba.ts";

const page = readFileSync(join(import.meta.dirname, "../../docs/testing.md"), "utf8");
const blocks = [...page.matchAll(/^```(?<kind>\w*)\n(?<text>[^]*?)^```$/gm)].map(({ groups }) => ({
  kind: groups?.["kind"] ?? "",
  text: groups?.["text"] ?? "",
}));
const files = blocks.filter(({ kind }) => kind === "yaml").map(({ text }) => text);
const printed = blocks.filter(({ kind }) => ["", "text"].includes(kind)).map(({ text }) => text);
const [first = "", lists = "", check = ""] = files;

async function testFile(
  t: TestContext,
  text: string,
  ...flags: readonly string[]
): Promise<Finished> {
  const cwd = mkdtempSync(join(tmpdir(), "pemba-page-"));
  t.after(() => rmSync(cwd, { recursive: true }));
  writeFileSync(join(cwd, "documents.yaml"), text);
  return await runCommand(["test", "documents.yaml", ...flags], { cwd });
}

test("the first test of docs/testing.md prints what the page says", async (t) => {
  assert.equal((await testFile(t, first)).stdout, printed[0]);
  const wrong = first.replace("view: false", "view: true");
  assert.equal((await testFile(t, wrong)).stdout, printed[1]);
  const unknown = first.replace(/assertions(?=: \{ view: false)/, "assertion");
  const { stdout } = await testFile(t, unknown);
  for (const line of printed[2]?.trimEnd().split("\n") ?? [])
    assert.ok(stdout.includes(line), stdout);
});

test("the lists and the context of docs/testing.md are as the page says", async (t) => {
  const { status, stdout } = await testFile(t, first.replace(/scenarios:[^]*/, lists));
  assert.equal(status, 0, stdout);
  const schema = first.replace("relation banned", "attribute level integer\n    relation banned");
  const indented = check.replaceAll(/^/gm, "      ");
  const scenario = `scenarios:\n  - name: context\n    checks:\n${indented}`;
  const asked = await testFile(t, schema.replace(/scenarios:[^]*/, scenario));
  assert.equal(asked.status, 0, asked.stdout);
});

test("the coverage of docs/testing.md is as the page says", async (t) => {
  const { status, stdout } = await testFile(t, first, "--coverage", "100");
  assert.equal(status, 1);
  const shown =
    printed[3]?.split("\n").filter((line) => line !== "" && !/…|^ends with/.test(line)) ?? [];
  assert.ok(shown.length > 5);
  for (const line of shown) assert.ok(stdout.includes(line), `${line}\n${stdout}`);
});
