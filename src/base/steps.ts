/**
 * Work in steps: it yields now and then, so that other requests get the processor, and its caller may
 * leave it there.
 */
export type Steps<T> = Generator<void, T>;

/** So many steps take far less than a time slice, and asking for the time after each would be felt. */
const stepsOfStretch = 256;

/** Counts the steps of one piece of work. */
export class Pace {
  #steps = 0;

  /** Whether a stretch ends with this step: then is the time to yield. */
  step(): boolean {
    this.#steps += 1;
    return this.#steps % stepsOfStretch === 0;
  }
}

/** Runs the steps to their end without a pause, for work that has a bound. */
export function runThrough<T>(steps: Steps<T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}
