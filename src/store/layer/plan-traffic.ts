import { LRUCache } from "lru-cache";

/** How many plans are remembered. */
const plansMax = 10_000;

/** How many characters their keys may have. */
const charactersMax = 2_000_000;

/** Of more callers, not all are waited for, so they do not share one statement anyway. */
const callersMax = 16;

/** Where a smaller share of the questions is searched, or fewer of the other callers, it costs less to read the tail. */
const searchedShareMin = 0.15;
const othersSearchedMin = 0.75;

/** What one question counts in a mean of the last ones. */
const weight = 1 / 256;

/**
 * The questions of one plan of late: how many come at the same time, and for how many of them nothing is kept.
 *
 * Those for which nothing is kept are searched, together in one statement. To find out beside it whether the answers of
 * the others hold is a second statement. It costs more than a few more probes in the first one.
 */
export class PlanTraffic {
  #callers = 0;
  /** Most of late. */
  #callersPeak = 0;
  #searchedShare = 0;

  /** A question has come. */
  entered(isKept: boolean): void {
    this.#callers += 1;
    this.#callersPeak = Math.max(this.#callers, this.#callersPeak * (1 - weight));
    this.#searchedShare += weight * ((isKept ? 0 : 1) - this.#searchedShare);
  }

  left(): void {
    this.#callers -= 1;
  }

  /** Whether others are likely to be searched at the same time as a question. */
  get isMixed(): boolean {
    const share = this.#searchedShare;
    const peak = this.#callersPeak;
    return (
      peak <= callersMax && share >= searchedShareMin && share * (peak - 1) >= othersSearchedMin
    );
  }
}

/** Plans by their keys, those that were asked for last. */
export class PlansTraffic {
  readonly #plans = new LRUCache<string, PlanTraffic>({
    max: plansMax,
    maxSize: charactersMax,
    sizeCalculation: (_plan, key) => key.length,
  });

  of(key: string): PlanTraffic {
    const known = this.#plans.get(key);
    if (known !== undefined) return known;
    const plan = new PlanTraffic();
    this.#plans.set(key, plan);
    return plan;
  }
}
