import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as nextRound } from "node:timers/promises";

import { loopRound } from "../../src/base/loop-round.ts";
import type { Steps } from "../../src/base/steps.ts";
import { runInSlices } from "../../src/base/time-slice.ts";

test("of the work that comes in one round of the loop, one piece goes on in each round", async () => {
  const rounds = new Map<string, Set<number>>();
  const names = Array.from({ length: 20 }, (_, nth) => `piece ${nth}`);
  function* work(name: string): Steps<void> {
    const own = new Set<number>();
    rounds.set(name, own);
    // The first step runs at once.
    yield;
    for (let step = 0; step < 3; step++) {
      own.add(loopRound());
      yield;
    }
  }
  let left = names.length;
  await nextRound();
  for (const name of names) {
    const done = runInSlices(work(name), undefined);
    assert.ok(done instanceof Promise);
    void done.then(() => (left -= 1));
  }
  while (left > 0) await nextRound();
  const used = [...rounds.values()].flatMap((own) => [...own]);
  assert.equal(new Set(used).size, used.length, used.join());
});

test("work that waits for its round ends when its caller leaves", async () => {
  const leaving = new AbortController();
  let steps = 0;
  function* work(): Steps<void> {
    for (;;) {
      steps += 1;
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
