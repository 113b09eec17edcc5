import { PembaError } from "../base/error.ts";

/** The limit on requests over all transports of the process. */
export interface RateLimit {
  /** How many requests are allowed each second, and how many of them at once. */
  readonly perSecond: number;
  /**
   * Counts one request. Returns how many of `perSecond` are then used. If the result is larger, the
   * request exceeds the limit and uses nothing.
   */
  take(): number;
}

/** Creates an unused limit. `now` returns milliseconds since any fixed moment. */
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

/** The error for a request that exceeds the limit. */
export function tooManyRequests({ perSecond }: RateLimit): PembaError {
  const limit = `at most ${perSecond} a second (\`server.rate_limit\`)`;
  return new PembaError("RATE_LIMIT_EXCEEDED", `too many requests, expected ${limit}`);
}
