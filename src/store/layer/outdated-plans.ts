import { LRUCache } from "lru-cache";

/** How many plans are remembered. */
const plansMax = 10_000;

/** How many characters their keys may have: a question may bring long arguments. */
const charactersMax = 2_000_000;

/** A plan rests for at most two to this power of checks. */
const failuresMax = 8;

interface OutdatedPlan {
  failures: number;
  /** How many checks of it are still to be asked at once. */
  rest: number;
  /** Where the tail was at the last failure: what was kept before may have been outdated by the same change. */
  position: number;
}

/**
 * Plans whose kept answers are outdated each time when they are asked for again, since the tenant is
 * written to so often. To look whether they still hold would be a statement for nothing. So after each
 * failure such a plan rests twice as long as before.
 */
export class OutdatedPlans {
  readonly #plans = new LRUCache<string, OutdatedPlan>({
    max: plansMax,
    maxSize: charactersMax,
    sizeCalculation: (_plan, key) => key.length,
  });

  /** Is the check to be asked at once? Counts as one of the checks for which its plan rests. */
  rests(key: string): boolean {
    if (this.#plans.size === 0) return false;
    const plan = this.#plans.get(key);
    if (plan === undefined || plan.rest === 0) return false;
    plan.rest -= 1;
    return true;
  }

  /** An answer that was kept at a position of the tail was outdated when it was asked for at another one. */
  failed(key: string, kept: number, found: number): void {
    const plan = this.#plans.get(key) ?? { failures: 0, rest: 0, position: 0 };
    if (kept < plan.position) return;
    plan.failures = Math.min(failuresMax, plan.failures + 1);
    plan.position = found;
    // The first time costs nothing: a change now and then is usual.
    plan.rest = 2 ** plan.failures - 2;
    this.#plans.set(key, plan);
  }

  /** A kept answer still held. */
  held(key: string): void {
    if (this.#plans.size === 0) return;
    const plan = this.#plans.get(key);
    if (plan === undefined) return;
    plan.failures -= 1;
    if (plan.failures <= 0) this.#plans.delete(key);
  }
}
