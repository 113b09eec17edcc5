import { setImmediate as nextTurn } from "node:timers/promises";

import { cancelled } from "./error.ts";

/** How long one request may hold the event loop. */
const sliceMs = 5;

/** The time that a request has before others get the processor. */
export class TimeSlice {
  #start = performance.now();

  get isOver(): boolean {
    return performance.now() - this.#start >= sliceMs;
  }

  /** Lets others go first. Fails with CANCELLED when the request has no caller any more. */
  async renew(signal: AbortSignal | undefined): Promise<void> {
    await nextTurn();
    if (signal?.aborted === true) throw cancelled(undefined);
    this.#start = performance.now();
  }
}

/**
 * Runs work to its end, at once where it has one step, and lets other requests go first where it
 * yields after its time slice. Fails with CANCELLED when the signal aborts.
 */
export function runInSlices<T>(
  work: Iterator<void, T>,
  signal: AbortSignal | undefined,
): T | Promise<T> {
  // Work of one step asks for no time.
  const first = work.next();
  return first.done === true ? first.value : continueInSlices(work, signal);
}

async function continueInSlices<T>(
  work: Iterator<void, T>,
  signal: AbortSignal | undefined,
): Promise<T> {
  const slice = new TimeSlice();
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
    if (slice.isOver) await slice.renew(signal);
  }
}
