import type { RateLimit } from "../auth/rate-limit.ts";
import { reserveOf } from "./reserve.ts";

/** Asks for tokens of the rate limit, at most so many. Resolves to how many there were. */
export type TakeTokens = (most: number) => Promise<number>;

/** Tokens that are older were taken for load that has ended. Others may have used theirs since. */
const freshMs = 100;

/** After a refusal nothing more is asked for so many milliseconds: a flood must not reach the lender. */
const refusedMs = 10;

/**
 * The rate limit of the instance, in a worker. It takes tokens from the supervisor, some ahead, so
 * that few requests wait for that. All workers together have at most a twentieth of a second's tokens
 * ahead.
 */
export class BorrowedRate implements RateLimit {
  readonly perSecond: number;
  readonly #ahead: number;
  readonly #takeTokens: TakeTokens;
  readonly #now: () => number;
  #left = 0;
  #staleAt = -Infinity;
  #refusedUntil = -Infinity;
  #waiters: ((isTaken: boolean) => void)[] = [];
  #isAsking = false;

  constructor(options: {
    readonly perSecond: number;
    readonly workers: number;
    readonly takeTokens: TakeTokens;
    readonly now?: () => number;
  }) {
    const { perSecond, workers, takeTokens, now = () => performance.now() } = options;
    this.perSecond = perSecond;
    this.#ahead = reserveOf(perSecond, workers);
    this.#takeTokens = takeTokens;
    this.#now = now;
  }

  take(): boolean | Promise<boolean> {
    if (!this.#isAsking) {
      if (this.#takeKept(1) === 1) return true;
      if (this.#isResting) return false;
    }
    const { promise, resolve } = Promise.withResolvers<boolean>();
    this.#waiters.push(resolve);
    if (!this.#isAsking) void this.#ask();
    return promise;
  }

  get #isResting(): boolean {
    return this.#now() < this.#refusedUntil;
  }

  /** One question for all who wait, and the next for those who came meanwhile, unless these were refused. */
  async #ask(): Promise<void> {
    this.#isAsking = true;
    while (this.#waiters.length > 0) {
      const waiters = this.#waiters;
      this.#waiters = [];
      const kept = this.#takeKept(waiters.length);
      const needed = waiters.length - kept;
      const taken = needed === 0 || this.#isResting ? 0 : await this.#takeNew(needed);
      for (const [nth, settle] of waiters.entries()) settle(nth < kept + taken);
    }
    this.#isAsking = false;
  }

  /** Takes what is left of the tokens that were taken ahead, at most so many. */
  #takeKept(most: number): number {
    const kept = this.#now() < this.#staleAt ? Math.min(most, this.#left) : 0;
    this.#left -= kept;
    return kept;
  }

  /** Takes new tokens, at most so many for requests that wait, and some ahead. */
  async #takeNew(needed: number): Promise<number> {
    const taken = await this.#takeTokens(needed + this.#ahead);
    const now = this.#now();
    this.#left = Math.max(0, taken - needed);
    this.#staleAt = now + freshMs;
    if (taken < needed) this.#refusedUntil = now + refusedMs;
    return Math.min(needed, taken);
  }
}
