import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";

const run = promisify(execFile);

const lightRunner = pathToFileURL(join(import.meta.dirname, "light-runner.ts")).href;

/** Runs the text as a test file, and resolves to the report. */
async function report(t: TestContext, text: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "pemba-light-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "some.mjs");
  writeFileSync(file, text);
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const words = [`--import=${lightRunner}`, "--test-reporter=tap", file];
  const failed = (error: unknown): unknown => error;
  const result: unknown = await run(process.execPath, words, { env }).catch(failed);
  return String(typeof result === "object" && result !== null && Reflect.get(result, "stdout"));
}

test("the runner listens to no resource of the process", async (t) => {
  const text = await report(
    t,
    `import assert from "node:assert/strict";
     import { executionAsyncId } from "node:async_hooks";
     import { test } from "node:test";
     test("promises have no number", async () => {
       await Promise.resolve();
       assert.equal(executionAsyncId(), 0);
     });`,
  );
  assert.match(text, /^ok 1 - promises have no number$/m);
});

test("an error that comes later fails the test that it belongs to, beside others", async (t) => {
  const text = await report(
    t,
    `import { after, describe, test } from "node:test";
     import { once, EventEmitter } from "node:events";
     describe("together", { concurrency: true }, () => {
       const events = new EventEmitter();
       const awake = setInterval(() => {}, 60_000);
       after(() => clearInterval(awake));
       const forever = () => new Promise(() => {});
       test("throws", async () => { setImmediate(() => { throw new Error("late"); }); await forever(); });
       test("rejects", async () => {
         setImmediate(async () => {
           await Promise.resolve();
           void Promise.reject(new Error("late"));
           events.emit("rejected");
         });
         await forever();
       });
       test("works", async () => await once(events, "rejected"));
     });`,
  );
  assert.match(text, /^ {4}not ok 1 - throws$/m);
  assert.match(text, /^ {4}not ok 2 - rejects$/m);
  assert.match(text, /^ {4}ok 3 - works$/m);
});

test("tests that are made later are inside the suite that makes them", async (t) => {
  const text = await report(
    t,
    `import { after, suite, test } from "node:test";
     await suite("outer", async () => {
       await Promise.resolve();
       after(() => console.log("outer is over"));
       test("inner", async (t) => await t.test("innermost", () => {}));
     });
     test("next", () => {});`,
  );
  assert.match(text, /^ {8}ok 1 - innermost$/m);
  assert.match(text, /^ {4}ok 1 - inner$/m);
  assert.match(text, /outer is over\n[^]*^ok 1 - outer$/m);
  assert.match(text, /^ok 2 - next$/m);
});
