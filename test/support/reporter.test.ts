import assert from "node:assert/strict";
import { resolve } from "node:path";
import { test } from "node:test";
import type { TestEvent } from "node:test/reporters";

import report from "./reporter.ts";

const name = "test/some.test.ts";
const file = resolve(name);
const place = { name, nesting: 0, file, line: 1, column: 1, testId: 1, parentId: 0, tags: [] };
const counts = { cancelled: 0, passed: 1, skipped: 0, suites: 0, tests: 1, todo: 0, topLevel: 1 };

const began: TestEvent = { type: "test:dequeue", data: { ...place, type: "test" } };
const passed: TestEvent = {
  type: "test:pass",
  data: { ...place, name: "it works", testNumber: 1, details: { duration_ms: 1 } },
};
const ended: TestEvent = {
  type: "test:summary",
  data: { file, success: true, duration_ms: 1, counts },
};

/** How Node reports what a test threw, and that a suite has a test that failed. */
const errorOfTest = Object.assign(new Error("test failed"), { cause: new Error("wrong") });
const errorOfSuite = Object.assign(new Error("1 subtest failed"), {
  cause: new Error("1 subtest failed"),
  failureType: "subtestsFailed",
});

async function told(...events: readonly TestEvent[]): Promise<string> {
  async function* source(): AsyncGenerator<TestEvent> {
    yield* events;
  }
  const exitCode = process.exitCode;
  let text = "";
  for await (const part of report(source())) text += part;
  // A run that is told of as failed fails; this one does not.
  process.exitCode = exitCode;
  return text;
}

test("a file is a line, and the last line counts all tests", async () => {
  assert.match(
    await told(began, passed, ended),
    /^ok {4}test\/some\.test\.ts {2}1 passed, 0 failed {2}0\.0 s\n\n1 passed, 0 failed\n$/,
  );
});

const program = "/tmp/000-some-1.mjs";
const beganBatch: TestEvent = {
  type: "test:dequeue",
  data: { ...place, name: program, file: program, type: "test" },
};
const suite = { ...place, file: resolve("test/support/batch.ts") };
const beganFile: TestEvent = { type: "test:dequeue", data: { ...suite, type: "suite" } };
const works = { ...place, name: "it works", nesting: 1 };
const fails = { ...place, name: "it fails", nesting: 1 };

test("a file of a batch is a line, and the process of the batch is none", async () => {
  const failed: TestEvent = {
    type: "test:fail",
    data: { ...fails, testNumber: 2, details: { duration_ms: 1, error: errorOfTest } },
  };
  const endedFile: TestEvent = {
    type: "test:fail",
    data: {
      ...suite,
      testNumber: 1,
      details: { duration_ms: 2, type: "suite", error: errorOfSuite },
    },
  };
  const text = await told(
    beganBatch,
    beganFile,
    { type: "test:start", data: suite },
    { type: "test:start", data: works },
    { type: "test:pass", data: { ...works, testNumber: 1, details: { duration_ms: 1 } } },
    { type: "test:start", data: fails },
    failed,
    endedFile,
    { type: "test:summary", data: { file: program, success: false, duration_ms: 3, counts } },
  );
  assert.match(text, /^FAIL {2}test\/some\.test\.ts:1 {2}it fails\n {6}Error: wrong\n/);
  assert.match(text, /\nFAIL {2}test\/some\.test\.ts {2}1 passed, 1 failed {2}0\.0 s\n\nFailed:\n/);
  assert.match(text, /\n1 passed, 1 failed\n$/);
});

test("a file of a batch whose process ends meanwhile counts as failed", async () => {
  const text = await told(beganBatch, beganFile);
  assert.match(text, /\n {2}test\/some\.test\.ts: its report was cut off\n/);
});

test("a file whose report was cut off counts as failed", async () => {
  const text = await told(began, passed);
  assert.match(text, /test\/some\.test\.ts: its report was cut off\n/);
  assert.match(text, /\n1 passed, 1 failed\n$/);
});
