import { sortInSteps } from "../../base/sort-steps.ts";
import type { Steps } from "../../base/steps.ts";

/** So many more are kept before the last ones are dropped. */
const surplusMax = 1_000;

/** The first so many of the items that it was shown, in memory for these alone. */
export class FirstItems<T> {
  readonly #count: number;
  readonly #compare: (a: T, b: T) => number;
  #kept: T[] = [];
  /** What comes behind this is not among the first. */
  #bound: T | undefined;

  constructor(count: number, compare: (a: T, b: T) => number) {
    this.#count = count;
    this.#compare = compare;
  }

  add(item: T): void {
    if (this.#bound !== undefined && this.#compare(item, this.#bound) > 0) return;
    this.#kept.push(item);
    if (this.#kept.length < this.#count + surplusMax) return;
    // All but the surplus is in order already, which makes this short.
    this.#kept = this.#kept.sort(this.#compare).slice(0, this.#count);
    this.#bound = this.#kept.at(-1);
  }

  /** The items in their order. */
  *inOrder(): Steps<readonly T[]> {
    const sorted = yield* sortInSteps(this.#kept, this.#compare);
    return sorted.slice(0, this.#count);
  }
}
