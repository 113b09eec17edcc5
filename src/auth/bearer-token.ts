import { PembaError } from "../base/error.ts";

/**
 * Returns the token of an `authorization` header. Fails with MISSING_BEARER_TOKEN if there is none.
 */
export function bearerToken(authorization: string | undefined): string {
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
