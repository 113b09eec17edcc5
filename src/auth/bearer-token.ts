import { PembaError } from "../base/error.ts";

/** The token of an `authorization` header. Fails with MISSING_BEARER_TOKEN when it has none. */
export function bearerToken(authorization: string | undefined): string {
  if (authorization === undefined) throw missing("is missing");
  const [, token] = /^bearer +([^ ]+) *$/i.exec(authorization) ?? [];
  // What stands there may be a secret of another scheme, and is not repeated.
  if (token === undefined) throw missing("is of another form");
  return token;
}

function missing(problem: string): PembaError {
  return new PembaError(
    "MISSING_BEARER_TOKEN",
    `authorization: ${problem}, expected \`Bearer <token>\``,
  );
}
