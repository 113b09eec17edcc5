import assert from "node:assert/strict";
import { test } from "node:test";

import { TimerWheel } from "../../src/base/timer-wheel.ts";
import { stopClocks } from "../support/standing-clock.ts";

test("timers are called at their moments or a tick later, in any order of setting", (t) => {
  const { now, pass } = stopClocks(t);
  const start = now();
  const wheel = new TimerWheel();
  const called = new Map<number, number>();
  for (const ms of [500, 30, 10_000, 31, 0, 499]) {
    wheel.set(start + ms, () => called.set(ms, now() - start));
  }
  pass(11_000);
  assert.deepEqual(
    [...called.keys()].toSorted((one, other) => one - other),
    [0, 30, 31, 499, 500, 10_000],
  );
  for (const [ms, at] of called)
    assert.ok(at >= ms && at <= ms + 21, `${ms} was called after ${at}`);
});

test("a timer that is cancelled is not called, also between others", (t) => {
  const { now, pass } = stopClocks(t);
  const wheel = new TimerWheel();
  const called: string[] = [];
  const set = (name: string, ms: number) => wheel.set(now() + ms, () => void called.push(name));
  const first = set("first", 100);
  set("second", 200);
  wheel.cancel(first);
  wheel.cancel(first);
  pass(150);
  const third = set("third", 40);
  set("fourth", 60);
  wheel.set(now() + 10, () => wheel.cancel(third));
  pass(300);
  assert.deepEqual(called, ["second", "fourth"]);
});

test("one that is called may set the next one", (t) => {
  const { now, pass } = stopClocks(t);
  const wheel = new TimerWheel();
  let count = 0;
  const again = (): void => {
    count += 1;
    if (count < 5) wheel.set(now() + 50, again);
  };
  again();
  pass(1_000);
  assert.equal(count, 5);
});

test("a moment that is farther than a timer of the event loop reaches is waited for", (t) => {
  let now = 0;
  t.mock.method(performance, "now", () => now);
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const wheel = new TimerWheel();
  let isCalled = false;
  const month = 31 * 86_400_000;
  wheel.set(month, () => (isCalled = true));
  for (let day = 1; day <= 30; day++) {
    now += 86_400_000;
    t.mock.timers.tick(86_400_000);
  }
  assert.ok(!isCalled);
  for (let day = 1; day <= 2; day++) {
    now += 86_400_000;
    t.mock.timers.tick(86_400_000);
  }
  assert.ok(isCalled);
});
