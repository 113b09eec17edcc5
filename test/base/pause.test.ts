import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as yieldToEventLoop } from "node:timers/promises";

import { pause } from "../../src/base/pause.ts";

const day = 86_400_000;

test("a long pause is none that the platform shortens", async (t) => {
  const warnings: Error[] = [];
  const warned = (warning: Error): void => void warnings.push(warning);
  process.on("warning", warned);
  t.after(() => process.off("warning", warned));
  const closing = new AbortController();
  const waiting = pause(60 * day, closing.signal);
  // A warning is emitted in the next turn of the event loop.
  await yieldToEventLoop();
  assert.deepEqual(warnings, []);
  closing.abort();
  await waiting;
});

test("a pause ends at once when it is called off, before or while it lasts", async () => {
  await pause(60 * day, AbortSignal.abort());
  const closing = new AbortController();
  const waiting = pause(60 * day, closing.signal);
  closing.abort();
  await waiting;
});
