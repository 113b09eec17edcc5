/** In milliseconds. */
export interface PatienceBounds {
  readonly min: number;
  readonly max: number;
}

/** How many times longer than usual an answer may take. */
const patienceTimes = 4;

/** How much the last answer counts in what is usual. */
const lastWeight = 0.1;

/**
 * How long an answer is waited for alone, by how long answers took before, wherever they came from. When
 * all take longer, as on machines that have too much to do, all are soon waited for longer: to ask for each
 * a second time would be work for nobody. One that never answers changes nothing: what is asked elsewhere
 * in its place is answered as soon as before.
 */
export class Patience {
  readonly #bounds: PatienceBounds;
  #usualMs = 0;

  constructor(bounds: PatienceBounds) {
    this.#bounds = bounds;
  }

  /** Milliseconds. */
  get ms(): number {
    const { min, max } = this.#bounds;
    return Math.min(Math.max(min, this.#usualMs * patienceTimes), max);
  }

  /** An answer has come after so many milliseconds. */
  answered(tookMs: number): void {
    this.#usualMs += (tookMs - this.#usualMs) * lastWeight;
  }
}
