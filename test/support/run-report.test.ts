import assert from "node:assert/strict";
import { resolve } from "node:path";
import { test } from "node:test";
import type { TestEvent } from "node:test/reporters";

import { filesToRepeat, readReport, withRepeated, type Report } from "../../scripts/run-report.ts";
import report from "./reporter.ts";

/** What the reporter tells of files with one test that passes and one that fails. */
async function reportOf(...names: readonly string[]): Promise<Report> {
  async function* source(): AsyncGenerator<TestEvent> {
    for (const name of names) yield* eventsOf(name);
  }
  const exitCode = process.exitCode;
  let text = "";
  for await (const part of report(source())) text += part;
  // A run that is told of as failed fails; this one does not.
  process.exitCode = exitCode;
  return await readReport(text.split("\n"), () => {});
}

function eventsOf(name: string): readonly TestEvent[] {
  const file = resolve(name);
  const place = { nesting: 0, file, line: 1, column: 1, testId: 1, parentId: 0, tags: [] };
  const error = Object.assign(new Error("test failed"), { cause: new Error("wrong") });
  const details = { duration_ms: 1 };
  const counts = { cancelled: 0, passed: 1, skipped: 0, suites: 0, tests: 2, todo: 0, topLevel: 2 };
  return [
    { type: "test:pass", data: { ...place, name: "it works", testNumber: 1, details } },
    {
      type: "test:fail",
      data: { ...place, name: "it fails", testNumber: 2, details: { ...details, error } },
    },
    { type: "test:summary", data: { file, success: false, duration_ms: 1, counts } },
  ];
}

test("a few files that failed are run once more, and count as they ended then", async () => {
  const first = await reportOf("test/a.test.ts", "test/b.long.test.ts");
  assert.deepEqual(filesToRepeat(first), ["test/a.test.ts", "test/b.long.test.ts"]);
  assert.deepEqual(withRepeated(first, { passed: 3, failed: 1, skipped: 0 }), {
    passed: 3,
    failed: 1,
    skipped: 0,
  });
});

test("what passed in other files still counts after a second run", async () => {
  const first = { ...(await reportOf("test/a.test.ts")), passed: 11 };
  assert.deepEqual(withRepeated(first, { passed: 2, failed: 0, skipped: 0 }), {
    passed: 12,
    failed: 0,
    skipped: 0,
  });
});

test("many files that failed are not run once more", async () => {
  const names = ["a", "b", "c", "d"].map((name) => `test/${name}.test.ts`);
  assert.deepEqual(filesToRepeat(await reportOf(...names)), []);
});

test("a failure outside the files, such as a process that broke off, stands", async () => {
  const first = await reportOf("test/a.test.ts");
  assert.deepEqual(filesToRepeat({ ...first, failed: first.failed + 1 }), []);
});

test("a run without a failure is not repeated", async () => {
  const lines = ["ok    test/a.test.ts  2 passed, 0 failed  0.1 s", "", "2 passed, 0 failed"];
  const told: string[] = [];
  const first = await readReport(lines, (line) => told.push(line));
  assert.deepEqual(filesToRepeat(first), []);
  assert.deepEqual(told, lines.slice(0, 2));
});
