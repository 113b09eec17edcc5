import assert from "node:assert/strict";
import { test } from "node:test";

import { closeWithin, flushTimeOf } from "../../src/cli/close-within.ts";

test("a store that does not close is left, with a warning", async () => {
  const warnings: string[] = [];
  await closeWithin(
    { close: async () => await new Promise<void>(() => {}) },
    1,
    (text) => void warnings.push(text),
  );
  assert.equal(warnings.length, 1);
});

test("a store that closes is waited for, and nothing is said", async () => {
  const warnings: string[] = [];
  let isClosed = false;
  const close = async (): Promise<void> => {
    await new Promise((resolve) => setImmediate(resolve));
    isClosed = true;
  };
  await closeWithin({ close }, 600_000, (text) => void warnings.push(text));
  assert.equal(isClosed, true);
  assert.deepEqual(warnings, []);
});

test("a failure of closing is reported", async () => {
  const close = async (): Promise<void> => await Promise.reject(new Error("broken"));
  await assert.rejects(
    closeWithin({ close }, 600_000, () => {}),
    /broken/,
  );
});

test("telemetry is sent in the rest of the grace period, and in at most a second", () => {
  for (const [left, time] of [
    [25_000, 1_000],
    [600, 600],
    [-3, 250],
    [Number.NEGATIVE_INFINITY, 250],
  ] as const) {
    assert.equal(flushTimeOf(left), time);
  }
});
