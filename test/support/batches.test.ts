import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { promisify } from "node:util";

import { batchesOf, makePrograms } from "../../scripts/batches.ts";
import { shortTests } from "../../scripts/run-tests.ts";
import { alone } from "./alone.ts";

const run = promisify(execFile);

const paths = globSync(shortTests);

test("each test file is in one batch", () => {
  const batches = batchesOf(paths);
  assert.deepEqual(batches.flatMap((batch) => batch.paths).toSorted(), paths.toSorted());
  const names = batches.map(({ name }) => name);
  assert.equal(new Set(names).size, names.length);
});

test("a file that is alone is there, and has a batch of its own", () => {
  const batches = batchesOf(paths);
  for (const path of Object.keys(alone)) {
    assert.deepEqual(
      batches.filter((batch) => batch.paths.includes(path)).map((it) => it.paths),
      [[path]],
    );
  }
});

test("a file that measures its process or steers V8 is alone", () => {
  const isOfProcess = /process\.(?:cpuUsage|memoryUsage|resourceUsage)|setFlagsFromString/;
  const found = paths.filter(
    (path) =>
      path !== "test/support/batches.test.ts" && isOfProcess.test(readFileSync(path, "utf8")),
  );
  assert.ok(found.length > 0);
  assert.deepEqual(
    found.filter((path) => !(path in alone)),
    [],
  );
});

/** Runs these files as one batch, and resolves to what the process wrote. */
async function runFiles(
  t: TestContext,
  files: Readonly<Record<string, string>>,
): Promise<{ readonly code: unknown; readonly text: string }> {
  const folder = mkdtempSync(join(tmpdir(), "pemba-batch-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const names = Object.keys(files).map((name) => join(folder, name));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  const { pattern, remove } = await makePrograms([{ name: "some", paths: names }]);
  t.after(remove);
  const [program = assert.fail("no program")] = globSync(pattern);
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const result = await run(process.execPath, ["--test-reporter=tap", program], { env }).catch(
    (error: unknown) => error as { stdout: string; code: unknown },
  );
  return { code: "code" in result ? result.code : 0, text: result.stdout };
}

test("the files of a batch run one after the other, each with its own hooks", async (t) => {
  const file = (name: string): string => `
    import { after, before, beforeEach, test } from "node:test";
    import { setImmediate } from "node:timers/promises";
    await setImmediate();
    console.log("${name} loads");
    before(() => console.log("${name} begins"));
    beforeEach(() => console.log("${name} is asked"));
    after(() => console.log("${name} ends"));
    test("it works", async () => await setImmediate());
  `;
  const { code, text } = await runFiles(t, { "a.mjs": file("a"), "b.mjs": file("b") });
  assert.equal(code, 0, text);
  assert.deepEqual(text.match(/[ab] (?:loads|begins|is asked|ends)/g), [
    "a loads",
    "a begins",
    "a is asked",
    "a ends",
    "b loads",
    "b begins",
    "b is asked",
    "b ends",
  ]);
});

test("a file that leaves its process in another state fails, and the next one runs", async (t) => {
  const { code, text } = await runFiles(t, {
    "changes.mjs": `
      process.env.PEMBA_CHANGED = "1";
      process.on("SIGUSR2", () => {});
      Date.now = () => 0;
    `,
    "next.mjs": `import { test } from "node:test"; test("it runs", () => {});`,
  });
  assert.equal(code, 1);
  assert.match(text, /changes its process/);
  for (const name of ["variable PEMBA_CHANGED", "listeners of SIGUSR2", "Date.now"]) {
    assert.ok(text.includes(name), name);
  }
  assert.match(text, /\n {4}ok 1 - it runs\n/);
});

test("a file that has a process of its own may change it", async (t) => {
  const file = `import { test } from "node:test"; test("it runs", () => {}); Date.now = () => 0;`;
  const { code, text } = await runFiles(t, { "changes.mjs": file });
  assert.equal(code, 0, text);
});

test("a file that cannot be loaded fails, and the next one runs", async (t) => {
  const { code, text } = await runFiles(t, {
    "broken.mjs": `import "./nothing.mjs";`,
    "next.mjs": `import { test } from "node:test"; test("it runs", () => {});`,
  });
  assert.equal(code, 1);
  assert.match(text, /Cannot find module/);
  assert.match(text, /\n {4}ok 1 - it runs\n/);
});
