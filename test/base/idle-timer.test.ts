import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout } from "node:timers/promises";

import { IdleSpan, IdleTimer } from "../../src/base/idle-timer.ts";
import { stopClocks } from "../support/standing-clock.ts";

test("a timer ends when the process was idle for so long", (t) => {
  const { pass, work } = stopClocks(t);
  let ends = 0;
  new IdleTimer(2, () => (ends += 1));
  pass(1);
  work(3);
  assert.equal(ends, 0);
  pass(1);
  assert.equal(ends, 1);
  pass(20);
  assert.equal(ends, 1);
});

test("a timer ends at last, however busy the process is", (t) => {
  const { work } = stopClocks(t);
  let ends = 0;
  new IdleTimer(1, () => (ends += 1));
  work(7);
  assert.equal(ends, 0);
  work(1);
  assert.equal(ends, 1);
});

test("a timer that is cancelled does not end, also after it has looked at the time", (t) => {
  const { pass, work } = stopClocks(t);
  const cancelled = (): void => assert.fail("it was cancelled");
  const timer = new IdleTimer(1, cancelled);
  const looked = new IdleTimer(1, cancelled);
  timer.cancel();
  work(2);
  looked.cancel();
  pass(20);
});

test("a span says what is left of idle milliseconds, and of the longest time", (t) => {
  const { pass, work } = stopClocks(t);
  const span = new IdleSpan();
  pass(2);
  assert.deepEqual([span.leftOf(3), span.isOver(3)], [1, false]);
  assert.deepEqual([span.leftOf(2), span.isOver(2)], [0, true]);
  work(5);
  assert.deepEqual([span.leftOf(3), span.isOver(3)], [1, false]);
  work(1);
  assert.deepEqual([span.leftOf(3), span.isOver(3)], [0, true]);
});

test("idle is what the event loop is while it waits", async () => {
  const span = new IdleSpan();
  const end = performance.now() + 3;
  while (performance.now() < end);
  assert.equal(span.leftOf(1), 1);
  while (span.leftOf(1) === 1) await setTimeout(1);
});
