import { PembaError } from "../base/error.ts";

/** The limit on requests over all transports of the instance. */
export interface RateLimit {
  /** How many requests are allowed each second, and how many of them at once. */
  readonly perSecond: number;
  /**
   * Counts one request. False if it exceeds the limit: then it uses nothing. A promise where another
   * process has to be asked.
   */
  take(): boolean | Promise<boolean>;
}

/** The limit of the only process of an instance, which asks no other one. */
export interface OwnRateLimit extends RateLimit {
  take(): boolean;
}

/** Holds as many tokens as come back in a second. They come back evenly. */
export class TokenBucket {
  readonly #perSecond: number;
  readonly #now: () => number;
  #used = 0;
  #last: number;

  /** Begins full. `now` returns milliseconds since any fixed moment. */
  constructor(perSecond: number, now: () => number = () => performance.now()) {
    this.#perSecond = perSecond;
    this.#now = now;
    this.#last = now();
  }

  /** Takes whole tokens, at most so many. Returns how many there were. */
  take(most: number): number {
    const time = this.#now();
    const back = ((time - this.#last) / 1_000) * this.#perSecond;
    this.#used = Math.max(0, this.#used - back);
    this.#last = time;
    const taken = Math.min(most, Math.floor(this.#perSecond - this.#used));
    this.#used += taken;
    return taken;
  }
}

/**
 * Creates the limit of the only process of an instance. `now` returns milliseconds since any fixed
 * moment.
 */
export function createRateLimit(perSecond: number, now?: () => number): OwnRateLimit {
  const bucket = new TokenBucket(perSecond, now);
  return { perSecond, take: () => bucket.take(1) === 1 };
}

/** The error for a request that exceeds the limit. */
export function tooManyRequests({ perSecond }: RateLimit): PembaError {
  const limit = `at most ${perSecond} a second (\`server.rate_limit\`)`;
  return new PembaError("RATE_LIMIT_EXCEEDED", `too many requests, expected ${limit}`);
}
