import type { JWTPayload } from "jose";

import { PembaError } from "../base/error.ts";
import { scopes } from "../base/scope.ts";
import type { Credential } from "./credential.ts";

/** The claims that limit a token; one without a name limits nothing. */
export interface ClaimNames {
  readonly scope: string;
  readonly tenant: string;
}

/** Stands for all tenants in a claim; there is none of this id. */
const allTenants = "*";

/**
 * What a token lets its bearer do. A claim that is looked at and not there gives nothing, so that a
 * token which was made for something else opens nothing. Fails with INVALID_CLAIMS when one is of
 * another kind.
 */
export function credentialOf(payload: JWTPayload, names: ClaimNames): Credential {
  const given = wordsOf(payload, names.scope);
  const tenants = wordsOf(payload, names.tenant);
  return {
    name: undefined,
    // An issuer gives scopes of its own besides, such as `openid`.
    scopes: given && new Set(scopes.filter((scope) => given.includes(scope))),
    tenants: tenants?.includes(allTenants) === true ? undefined : tenants && new Set(tenants),
  };
}

/** The words of a claim, be it a list of them or a text; undefined where none is looked at. */
function wordsOf(payload: JWTPayload, name: string): readonly string[] | undefined {
  if (name === "") return undefined;
  // A token may have claims of any name, and none has what every object has.
  const claim = Object.hasOwn(payload, name) ? payload[name] : undefined;
  if (claim === undefined || claim === null) return [];
  const parts: unknown = typeof claim === "string" ? claim.split(" ") : claim;
  if (!Array.isArray(parts) || !parts.every((part) => typeof part === "string")) {
    throw new PembaError(
      "INVALID_CLAIMS",
      `authorization: the token has a wrong \`${name}\`, expected a text or a list of texts`,
    );
  }
  return parts;
}
