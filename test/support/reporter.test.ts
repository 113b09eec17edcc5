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

test("a file whose report was cut off counts as failed", async () => {
  const text = await told(began, passed);
  assert.match(text, /test\/some\.test\.ts: its report was cut off\n/);
  assert.match(text, /\n1 passed, 1 failed\n$/);
});
