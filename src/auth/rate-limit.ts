import { PembaError } from "../base/error.ts";

/** How many requests may come in. */
export interface RateLimit {
  /** Counts one request. Fails with RATE_LIMIT_EXCEEDED when it is one too many. */
  count(): void;
}

/**
 * As many requests as come back each second may come at once. `now` tells the time in milliseconds
 * since any fixed moment.
 */
export function createRateLimit(
  perSecond: number,
  now: () => number = () => performance.now(),
): RateLimit {
  let left = perSecond;
  let last = now();
  return {
    count() {
      const time = now();
      left = Math.min(perSecond, left + ((time - last) / 1_000) * perSecond);
      last = time;
      if (left < 1) {
        const limit = `at most ${perSecond} a second (\`server.rate_limit\`)`;
        throw new PembaError("RATE_LIMIT_EXCEEDED", `too many requests, expected ${limit}`);
      }
      left -= 1;
    },
  };
}
