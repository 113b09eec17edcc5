import { bearerToken } from "./bearer-token.ts";
import { type Credential, fullCredential } from "./credential.ts";
import { type RateLimit, tooManyRequests } from "./rate-limit.ts";

/** What stands before all requests, whatever transport they come over. */
export interface Admission {
  readonly rateLimit: RateLimit;
  /** False when all may ask, whatever `authenticate` is given. */
  readonly needsToken: boolean;
  /**
   * Verifies what a request has in its `authorization` header, and tells what its bearer may do.
   * Fails with a code of the kind `unauthenticated`.
   */
  authenticate(authorization: string | undefined): Promise<Credential>;
}

/** Tells what the bearer of a token may do. Fails with a code of the kind `unauthenticated`. */
export interface Authenticator {
  verify(token: string): Promise<Credential>;
  /** Ends what it does in the background. */
  close(): Promise<void>;
}

const everybody = fullCredential();

/** Without `authenticator`, all may ask everything. */
export function createAdmission({
  rateLimit,
  authenticator,
}: {
  readonly rateLimit: RateLimit;
  readonly authenticator: Authenticator | undefined;
}): Admission {
  return {
    rateLimit,
    needsToken: authenticator !== undefined,
    async authenticate(authorization) {
      if (authenticator === undefined) return everybody;
      return await authenticator.verify(bearerToken(authorization));
    },
  };
}

/**
 * Asked before anything else of a request is looked at. Counts first, so that a flood of bad tokens
 * is limited as well. Fails with RATE_LIMIT_EXCEEDED, or as `authenticate` does.
 */
export async function admit(
  admission: Admission,
  authorization: string | undefined,
): Promise<Credential> {
  const { rateLimit } = admission;
  if (rateLimit.take() > rateLimit.perSecond) throw tooManyRequests(rateLimit);
  return await admission.authenticate(authorization);
}
