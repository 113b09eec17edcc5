import { bearerToken } from "./bearer-token.ts";
import type { RateLimit } from "./rate-limit.ts";

/**
 * Asked by every transport before anything else of a request is looked at, with its `authorization`
 * header. Fails with RATE_LIMIT_EXCEEDED, or with a code of the kind `unauthenticated`.
 */
export type Admission = (authorization: string | undefined) => Promise<void>;

/** Tells whether a bearer token is good. Fails with a code of the kind `unauthenticated`. */
export interface Authenticator {
  verify(token: string): Promise<void>;
  /** Ends what it does in the background. */
  close(): Promise<void>;
}

/** Counts first, so that a flood of bad tokens is limited as well. Without `authenticator`, all may ask. */
export function createAdmission({
  rateLimit,
  authenticator,
}: {
  readonly rateLimit: RateLimit;
  readonly authenticator: Authenticator | undefined;
}): Admission {
  return async (authorization) => {
    rateLimit.count();
    await authenticator?.verify(bearerToken(authorization));
  };
}
