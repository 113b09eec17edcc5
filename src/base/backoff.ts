/** Most chances that go without a try after some tries in vain, unless another number is given. */
const usualSkipsMax = 64;

/**
 * Something that is worth a try only if it often succeeds. Each failure in a row leaves out twice as many chances as
 * the one before. The first success ends that.
 */
export class Backoff {
  readonly #skipsMax: number;
  /** How many chances are left out: from now on, and after the last failure. */
  #skips = 0;
  #lastSkips = 0;

  constructor(skipsMax: number = usualSkipsMax) {
    this.#skipsMax = skipsMax;
  }

  /** Asked once at each chance. */
  mayTry(): boolean {
    if (this.#skips === 0) return true;
    this.#skips -= 1;
    return false;
  }

  succeeded(): void {
    this.#lastSkips = 0;
  }

  failed(): void {
    this.#lastSkips = Math.min(this.#skipsMax, 2 * this.#lastSkips + 1);
    this.#skips = this.#lastSkips;
  }
}
