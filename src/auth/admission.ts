import { PembaError } from "../base/error.ts";
import type { Intake } from "../intake/intake.ts";
import { type Credential, fullCredential } from "./credential.ts";
import { type RateLimit, tooManyRequests } from "./rate-limit.ts";

/** The checks before every request, for all transports. */
export interface Admission {
  readonly rateLimit: RateLimit;
  /** How much is taken in of the requests whose token may ask. */
  readonly intake: Intake;
  /** False if requests need no token. */
  readonly needsToken: boolean;
  /**
   * Verifies the `authorization` header of a request, and returns the rights of its bearer. Fails
   * with a code of the kind `unauthenticated`.
   */
  authenticate(authorization: string | undefined): Promise<Credential>;
}

/**
 * Verifies tokens and returns the rights of their bearers. `verify` fails with a code of the kind
 * `unauthenticated`.
 */
export interface Authenticator {
  verify(token: string): Promise<Credential>;
  /** Stops the work in the background. */
  close(): Promise<void>;
}

const everybody = fullCredential();

/** Without `authenticator`, every request has all rights. */
export function createAdmission({
  rateLimit,
  intake,
  authenticator,
}: {
  readonly rateLimit: RateLimit;
  readonly intake: Intake;
  readonly authenticator: Authenticator | undefined;
}): Admission {
  return {
    rateLimit,
    intake,
    needsToken: authenticator !== undefined,
    async authenticate(authorization) {
      if (authenticator === undefined) return everybody;
      return await authenticator.verify(bearerToken(authorization));
    },
  };
}

/**
 * Called before anything else of a request is read. It counts the request first, so that a flood of
 * invalid tokens is limited too. A promise costs time: there is none where nothing has to be waited for.
 * Fails with RATE_LIMIT_EXCEEDED, or as `authenticate` does.
 */
export function admit(
  admission: Admission,
  authorization: string | undefined,
): Credential | Promise<Credential> {
  const { rateLimit } = admission;
  const pass = (isTaken: boolean): Credential | Promise<Credential> => {
    if (!isTaken) throw tooManyRequests(rateLimit);
    return admission.needsToken ? admission.authenticate(authorization) : everybody;
  };
  const isTaken = rateLimit.take();
  return typeof isTaken === "boolean" ? pass(isTaken) : isTaken.then(pass);
}

/**
 * Returns the token of an `authorization` header. Fails with MISSING_BEARER_TOKEN if there is none.
 */
function bearerToken(authorization: string | undefined): string {
  if (authorization === undefined) throw missing("is missing");
  const [, token] = /^bearer +([^ ]+) *$/i.exec(authorization) ?? [];
  // The value may be a secret of another scheme, so the error does not repeat it.
  if (token === undefined) throw missing("is not a bearer token");
  return token;
}

function missing(problem: string): PembaError {
  return new PembaError(
    "MISSING_BEARER_TOKEN",
    `authorization: ${problem}, expected \`Bearer <token>\``,
  );
}
