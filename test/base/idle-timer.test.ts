import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import { setImmediate, setTimeout } from "node:timers/promises";
import { MessageChannel } from "node:worker_threads";

import { IdleSpan, IdleTimer } from "../../src/base/idle-timer.ts";
import { stopClocks } from "../support/standing-clock.ts";

test("a timer ends when the process was idle for so long", async (t) => {
  const { pass, work } = stopClocks(t);
  let ends = 0;
  new IdleTimer(2, () => (ends += 1));
  pass(1);
  work(2);
  await setImmediate();
  assert.equal(ends, 0);
  pass(1);
  await setImmediate();
  assert.equal(ends, 1);
  pass(20);
  await setImmediate();
  assert.equal(ends, 1);
});

test("a timer ends at last, however busy the process is", async (t) => {
  const { work } = stopClocks(t);
  let ends = 0;
  new IdleTimer(1, () => (ends += 1));
  work(3);
  await setImmediate();
  assert.equal(ends, 0);
  work(1);
  await setImmediate();
  assert.equal(ends, 1);
});

test("what has come is read before a timer ends", async (t) => {
  const { work } = stopClocks(t);
  const { port1, port2 } = new MessageChannel();
  t.after(() => port1.close());
  const timer = new IdleTimer(1, () => assert.fail("what it waits for has come"));
  const read = once(port1, "message");
  port1.on("message", () => timer.cancel());
  port2.postMessage("here");
  work(20);
  await read;
  await setImmediate();
});

test("a timer that is cancelled does not end, also after it has looked at the time", async (t) => {
  const { pass, work } = stopClocks(t);
  const cancelled = (): void => assert.fail("it was cancelled");
  const timer = new IdleTimer(1, cancelled);
  const looked = new IdleTimer(1, cancelled);
  const late = new IdleTimer(1, cancelled);
  timer.cancel();
  work(2);
  looked.cancel();
  pass(20);
  late.cancel();
  await setImmediate();
});

test("a span says what is left of idle milliseconds, and of the longest time", (t) => {
  const { pass, work } = stopClocks(t);
  const span = new IdleSpan();
  pass(2);
  assert.deepEqual([span.leftOf(3), span.isOver(3)], [1, false]);
  assert.deepEqual([span.leftOf(2), span.isOver(2)], [0, true]);
  work(1);
  assert.deepEqual([span.leftOf(3), span.isOver(3)], [1, false]);
  work(1);
  assert.deepEqual([span.leftOf(3), span.isOver(3)], [0, true]);
});

test("idle is what the event loop is while it waits", async (t) => {
  t.mock.method(performance, "now", () => 0);
  const span = new IdleSpan();
  const end = Date.now() + 3;
  while (Date.now() < end);
  assert.equal(span.leftOf(1), 1);
  while (span.leftOf(1) === 1) await setTimeout(1);
});
