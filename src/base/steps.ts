/**
 * Work in steps: it yields from time to time, so that other requests get the processor. Its caller
 * may abandon it at a yield.
 */
export type Steps<T> = Generator<void, T>;

/**
 * That many steps take far less than a time slice. To read the clock after each step would cost
 * time.
 */
const stepsOfStretch = 256;

/** Counts the steps of one piece of work. */
export class Pace {
  #left = stepsOfStretch;

  /** Whether the work should yield after this step, or after one that does the work of `count`. */
  step(count = 1): boolean {
    this.#left -= count;
    if (this.#left > 0) return false;
    this.#left = stepsOfStretch;
    return true;
  }

  /** Counts work where it cannot yield: the next step does. */
  spend(count: number): void {
    this.#left -= count;
  }
}

/** Runs the steps to the end without a pause, for work that has a bound. */
export function runThrough<T>(steps: Steps<T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}
