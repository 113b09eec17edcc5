import { cancelled } from "./error.ts";
import { LoopQueue } from "./loop-queue.ts";
import { loopRound } from "./loop-round.ts";

/** How long one request may hold the event loop, in milliseconds. */
const sliceMs = 5;

/** One request goes on in each round of the loop: the slices of many would add up in one round. */
const slices = new LoopQueue(1);

/** When the first slice began in the last round of the loop in which one did. */
let shared = { round: -1, start: 0 };

/** The time slice of one request. */
export class TimeSlice {
  #start = performance.now();

  /**
   * Begins a slice. All work that begins in one round of the loop shares one: many answers of the database
   * may come in a round, and their slices would add up.
   */
  static begin(): TimeSlice {
    const slice = new TimeSlice();
    const round = loopRound();
    if (round === shared.round) slice.#start = shared.start;
    else shared = { round, start: slice.#start };
    return slice;
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
 * Runs work to its end. Work of one step runs at once. Longer work yields to other requests after
 * each time slice, which it shares with what begins in the same round of the loop. Fails with CANCELLED if
 * the signal aborts.
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
  const slice = TimeSlice.begin();
  for (;;) {
    if (slice.isOver) await slice.renew(signal);
    const step = work.next();
    if (step.done === true) return step.value;
  }
}
