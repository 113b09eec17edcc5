import { cancelled } from "./error.ts";
import { LoopQueue } from "./loop-queue.ts";

/** How long one request may hold the event loop, in milliseconds. */
const sliceMs = 5;

/** One request goes on in each round of the loop: the slices of many would add up in one round. */
const slices = new LoopQueue(1);

/** The time slice of one request. */
export class TimeSlice {
  #start = performance.now();

  /**
   * Begins a slice when no other one has begun in the round of the loop: now, or after waiting. Many
   * answers of the database may come in one round. Fails with CANCELLED if the caller has left.
   */
  static async begin(signal: AbortSignal | undefined): Promise<TimeSlice> {
    await new Promise<void>((begin) => slices.enter({ tenant: undefined, begin }));
    if (signal?.aborted === true) throw cancelled(undefined);
    return new TimeSlice();
  }

  get isOver(): boolean {
    return performance.now() - this.#start >= sliceMs;
  }

  /** Yields to other requests. Fails with CANCELLED if the caller has left. */
  async renew(signal: AbortSignal | undefined): Promise<void> {
    await new Promise<void>((begin) => slices.wait({ tenant: undefined, begin }));
    if (signal?.aborted === true) throw cancelled(undefined);
    this.#start = performance.now();
  }
}

/**
 * Runs work to its end. Work of one step runs at once. Longer work goes on in a round of the loop of its
 * own, and yields to other requests after each time slice. Fails with CANCELLED if the signal aborts.
 */
export function runInSlices<T>(
  work: Iterator<void, T>,
  signal: AbortSignal | undefined,
): T | Promise<T> {
  // Work of one step never reads the clock.
  const first = work.next();
  return first.done === true ? first.value : continueInSlices(work, signal);
}

async function continueInSlices<T>(
  work: Iterator<void, T>,
  signal: AbortSignal | undefined,
): Promise<T> {
  const slice = await TimeSlice.begin(signal);
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
    if (slice.isOver) await slice.renew(signal);
  }
}
