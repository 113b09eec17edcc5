import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { test } from "node:test";

import { Bell } from "../../src/store/bell.ts";

test("however often the bell rings, nothing of who hears it stays with the signal", async () => {
  const bell = new Bell();
  const { signal } = new AbortController();
  for (let count = 0; count < 100; count++) {
    const heard = bell.heard(signal);
    assert.equal(getEventListeners(signal, "abort").length, 1);
    bell.ring();
    await heard;
  }
  assert.equal(getEventListeners(signal, "abort").length, 0);
});

test("who waits is woken by an abort, and by the end of its time", async () => {
  const bell = new Bell();
  const leaving = new AbortController();
  const heard = bell.heard(leaving.signal);
  leaving.abort();
  await heard;
  await bell.heard(leaving.signal);

  // The timer of the bell holds no process, and nothing else is left in this one.
  const alive = setInterval(() => {}, 1_000);
  const { signal } = new AbortController();
  await bell.heard(signal, 1);
  clearInterval(alive);
  assert.equal(getEventListeners(signal, "abort").length, 0);
});
