import assert from "node:assert/strict";
import { test } from "node:test";

import { closeWithin, flushTimeOf } from "../../src/cli/close-within.ts";

test("a store that does not close is left, with a warning", async () => {
  const told: string[] = [];
  await closeWithin(
    { close: async () => await new Promise<void>(() => {}) },
    1,
    (text) => void told.push(text),
  );
  assert.equal(told.length, 1);
});

test("a store that closes is waited for, and nothing is said", async () => {
  const told: string[] = [];
  let isClosed = false;
  const close = async (): Promise<void> => {
    await new Promise((resolve) => setImmediate(resolve));
    isClosed = true;
  };
  await closeWithin({ close }, 600_000, (text) => void told.push(text));
  assert.equal(isClosed, true);
  assert.deepEqual(told, []);
});

test("what goes wrong in closing is told", async () => {
  const close = async (): Promise<void> => await Promise.reject(new Error("broken"));
  await assert.rejects(
    closeWithin({ close }, 600_000, () => {}),
    /broken/,
  );
});

test("what is left to be told has what is left of the grace period, and a second at most", () => {
  for (const [left, time] of [
    [25_000, 1_000],
    [600, 600],
    [-3, 250],
    [Number.NEGATIVE_INFINITY, 250],
  ] as const) {
    assert.equal(flushTimeOf(left), time);
  }
});
