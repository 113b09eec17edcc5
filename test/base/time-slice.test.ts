import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as nextRound } from "node:timers/promises";

import { loopRound } from "../../src/base/loop-round.ts";
import type { Steps } from "../../src/base/steps.ts";
import { runInSlices } from "../../src/base/time-slice.ts";

const stepMs = 2;

test("work that begins in one round of the loop holds it no longer than one piece of work", async (t) => {
  let clock = performance.now();
  t.mock.method(performance, "now", () => clock);
  const spent = new Map<number, number>();
  function* work(): Steps<void> {
    // The first step runs at once.
    yield;
    for (let step = 0; step < 4; step++) {
      clock += stepMs;
      spent.set(loopRound(), (spent.get(loopRound()) ?? 0) + stepMs);
      yield;
    }
  }
  const pieces = 30;
  let left = pieces;
  await nextRound();
  for (let nth = 0; nth < pieces; nth++) {
    const done = runInSlices(work(), undefined);
    assert.ok(done instanceof Promise);
    void done.then(() => (left -= 1));
  }
  while (left > 0) await nextRound();
  const all = [...spent.values()];
  assert.equal(
    all.reduce((sum, one) => sum + one, 0),
    pieces * 4 * stepMs,
  );
  assert.ok(Math.max(...all) <= 10, all.join());
});

test("work that waits for its slice ends when its caller leaves", async (t) => {
  let clock = performance.now();
  t.mock.method(performance, "now", () => clock);
  const leaving = new AbortController();
  let steps = 0;
  function* work(): Steps<void> {
    for (;;) {
      steps += 1;
      clock += stepMs;
      yield;
    }
  }
  await nextRound();
  const asked = [1, 2].map(async () => await runInSlices(work(), leaving.signal));
  leaving.abort();
  for (const one of asked) await assert.rejects(one, { code: "CANCELLED" });
  const before = steps;
  await nextRound();
  assert.equal(steps, before);
});
