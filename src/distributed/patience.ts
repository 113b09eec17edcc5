/** In milliseconds. */
export interface PatienceBounds {
  readonly min: number;
  readonly max: number;
}

/** How many times longer than usual an answer may take. */
const patienceTimes = 4;

/** How much the last answer counts in what is usual. */
const lastWeight = 0.1;

/** What an answer that did not come in time counts as, as a multiple of what is usual. */
const lateTimes = 1.5;

/**
 * How long an answer is waited for alone, by how long answers took before. When all take longer, as on
 * machines that have too much to do, all are soon waited for longer: to ask for each a second time would
 * be work for nobody. One of several that never answers hardly changes what is usual.
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

  /** None has come in time. */
  late(): void {
    this.answered((this.ms / patienceTimes) * lateTimes);
  }
}
