import { setImmediate as turn } from "node:timers/promises";

import { cancelled } from "../../base/error.ts";

/** How long a request may keep all others waiting. */
const turnMilliseconds = 10;

/**
 * Runs work to its end, at once where it has one step, and lets others have their turn where it
 * yields. Fails with CANCELLED when nobody waits for it any more.
 */
export function inTurns<T>(
  work: Iterator<void, T>,
  signal: AbortSignal | undefined,
): T | Promise<T> {
  // Nobody asks how long that took.
  const first = work.next();
  return first.done === true ? first.value : goOn(work, signal);
}

async function goOn<T>(work: Iterator<void, T>, signal: AbortSignal | undefined): Promise<T> {
  let start = performance.now();
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
    if (performance.now() - start < turnMilliseconds) continue;
    await turn();
    if (signal?.aborted === true) throw cancelled(undefined);
    start = performance.now();
  }
}
