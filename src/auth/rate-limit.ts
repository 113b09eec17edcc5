import { PembaError } from "../base/error.ts";

/** How many requests may come in, over all transports of the process. */
export interface RateLimit {
  /** So many come back each second, and as many may come at once. */
  readonly perSecond: number;
  /**
   * Counts one request. Gives how many of `perSecond` are used with it: when that is more than there
   * are, the request is one too many, and uses nothing.
   */
  take(): number;
}

/** A limit of which nothing is used. `now` tells the time in milliseconds since any fixed moment. */
export function createRateLimit(
  perSecond: number,
  now: () => number = () => performance.now(),
): RateLimit {
  let used = 0;
  let last = now();
  return {
    perSecond,
    take() {
      const time = now();
      used = Math.max(0, used - ((time - last) / 1_000) * perSecond);
      last = time;
      const withThis = used + 1;
      if (withThis <= perSecond) used = withThis;
      return withThis;
    },
  };
}

/** What is said to a request that is one too many. */
export function tooManyRequests({ perSecond }: RateLimit): PembaError {
  const limit = `at most ${perSecond} a second (\`server.rate_limit\`)`;
  return new PembaError("RATE_LIMIT_EXCEEDED", `too many requests, expected ${limit}`);
}
