import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { test } from "node:test";

import { Notifier } from "../../src/store/notifier.ts";

test("however often the notifier rings, nothing of who hears it stays with the signal", async () => {
  const notifier = new Notifier();
  const { signal } = new AbortController();
  for (let count = 0; count < 100; count++) {
    const heard = notifier.notified(signal);
    assert.equal(getEventListeners(signal, "abort").length, 1);
    notifier.notify();
    await heard;
  }
  assert.equal(getEventListeners(signal, "abort").length, 0);
});

test("who waits is woken by an abort, and by the end of its time", async () => {
  const notifier = new Notifier();
  const leaving = new AbortController();
  const heard = notifier.notified(leaving.signal);
  leaving.abort();
  await heard;
  await notifier.notified(leaving.signal);

  // The timer of the notifier holds no process, and nothing else is left in this one.
  const alive = setInterval(() => {}, 1_000);
  const { signal } = new AbortController();
  await notifier.notified(signal, 1);
  clearInterval(alive);
  assert.equal(getEventListeners(signal, "abort").length, 0);
});
