import { setImmediate as turn } from "node:timers/promises";

import { cancelled } from "../../base/error.ts";

/** How long a request may keep all others waiting. */
const turnMilliseconds = 10;

/**
 * Runs work to its end and lets others have their turn where it yields. Fails with CANCELLED when
 * nobody waits for it any more.
 */
export async function inTurns<T>(
  work: Iterator<void, T>,
  signal: AbortSignal | undefined,
): Promise<T> {
  // Most work has one step, and nobody asks how long that took.
  const first = work.next();
  if (first.done === true) return first.value;
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
