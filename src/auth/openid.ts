import { hash } from "node:crypto";

import { decodeProtectedHeader, errors, type JWTPayload, jwtVerify } from "jose";
import { LRUCache } from "lru-cache";
import type { BaseLogger } from "pino";

import { type ErrorCode, PembaError } from "../base/error.ts";
import { scopes } from "../base/scope.ts";
import type { Authenticator } from "./admission.ts";
import type { Credential } from "./credential.ts";
import { keysOfIssuer } from "./issuer.ts";
import type { KeySet } from "./key-set.ts";
import { type FetchSchedule, SigningKeys } from "./signing-keys.ts";

/** The allowed difference between the clocks of issuer and server, in seconds. */
const clockTolerance = 5;

/** The conditions for accepting a token. */
export interface OpenIdRules {
  /** Exactly as in tokens. */
  readonly issuer: string;
  readonly audience: string;
  /** Names of signing algorithms. */
  readonly methods: readonly string[];
  /** The claims that limit the bearer of a token. */
  readonly claims: ClaimNames;
}

/** Accepts valid tokens that the issuer signed for the audience. */
export function openId({
  rules,
  schedule,
  logger,
}: {
  readonly rules: OpenIdRules;
  readonly schedule: FetchSchedule;
  readonly logger: Pick<BaseLogger, "info" | "warn" | "debug">;
}): Authenticator {
  const keys = new SigningKeys({ fetchKeys: keysOfIssuer(rules.issuer), schedule, logger });
  const verified = verifiedTokens();
  return {
    async verify(token) {
      const known = verified.find(token, keys.current);
      if (known !== undefined) return known;
      if (!isSpelledOnce(token)) throw invalid("is not in base64url without padding");
      const { alg, kid } = headerOf(token);
      // Checked before any key is fetched, because such a token is never valid.
      if (alg === undefined || !rules.methods.includes(alg)) {
        throw invalid("is signed with a method that is not allowed");
      }
      if (kid === undefined) throw invalid("does not name its key (`kid`)");
      const set = await keys.holding(kid);
      if (set === undefined) {
        throw invalid(
          keys.current === undefined
            ? "cannot be verified, because the keys of its issuer cannot be fetched"
            : "is signed with a key that its issuer does not publish",
        );
      }
      const { payload } = await jwtVerify(token, set.find, {
        issuer: rules.issuer,
        audience: rules.audience,
        algorithms: [...rules.methods],
        requiredClaims: ["exp"],
        clockTolerance,
      }).catch((error: unknown) => {
        // The message of `jose` may contain parts of the token, so it does not go into the log.
        throw refusalOf(error);
      });
      if (isFromTheFuture(payload)) throw invalid("was issued in the future (`iat`)");
      const credential = credentialOf(payload, rules.claims);
      if (payload.exp !== undefined) {
        verified.add(token, { credential, keys: set, expires: payload.exp });
      }
      return credential;
    },
    close: async () => await keys.close(),
  };
}

/**
 * A reader of base64url may ignore padding and the last bits. One token would then have many
 * spellings, and a cache or a block list would take them for different tokens.
 */
function isSpelledOnce(token: string): boolean {
  return token
    .split(".")
    .every((part) => Buffer.from(part, "base64url").toString("base64url") === part);
}

/** The library checks `iat` only if the age of a token is limited. */
function isFromTheFuture({ iat }: JWTPayload): boolean {
  return iat !== undefined && iat > Date.now() / 1_000 + clockTolerance;
}

function headerOf(token: string): {
  readonly alg: string | undefined;
  readonly kid: string | undefined;
} {
  try {
    const { alg, kid } = decodeProtectedHeader(token);
    return { alg, kid: typeof kid === "string" ? kid : undefined };
  } catch {
    throw invalid("is not a signed token (JWS)");
  }
}

function refusalOf(error: unknown): PembaError {
  if (error instanceof errors.JWTExpired) return invalid("has expired");
  if (error instanceof errors.JWTInvalid) return refuse("INVALID_CLAIMS", "has no claims");
  if (error instanceof errors.JWSSignatureVerificationFailed) {
    return invalid("has a signature that does not match");
  }
  if (!(error instanceof errors.JWTClaimValidationFailed)) return invalid("cannot be verified");
  const { claim, reason } = error;
  switch (claim) {
    case "iss":
      return refuse("INVALID_ISSUER", "is from another issuer");
    case "aud":
      return refuse("INVALID_AUDIENCE", "is for another audience");
    case "nbf":
      return invalid(reason === "check_failed" ? "is not valid yet" : "has no number as its `nbf`");
    default:
      return invalid(reason === "missing" ? `lacks \`${claim}\`` : `has a wrong \`${claim}\``);
  }
}

function invalid(problem: string): PembaError {
  return refuse("INVALID_BEARER_TOKEN", problem);
}

function refuse(code: ErrorCode, problem: string): PembaError {
  return new PembaError(code, `authorization: the token ${problem}`);
}

/** The claims that limit a token. An empty name limits nothing. */
export interface ClaimNames {
  readonly scope: string;
  readonly tenant: string;
}

/** Means all tenants in a claim. No tenant can have this id. */
const allTenants = "*";

/**
 * Returns the rights that a token gives. A configured claim that is missing gives no rights, so a
 * token that was issued for another purpose gives none. Fails with INVALID_CLAIMS if a claim has
 * the wrong type.
 */
function credentialOf(payload: JWTPayload, names: ClaimNames): Credential {
  const given = wordsOf(payload, names.scope);
  const tenants = wordsOf(payload, names.tenant);
  return {
    name: undefined,
    // An issuer also gives scopes of its own, such as `openid`.
    scopes: given && new Set(scopes.filter((scope) => given.includes(scope))),
    tenants: tenants?.includes(allTenants) === true ? undefined : tenants && new Set(tenants),
  };
}

/** The words of a claim that is a list or a text. Undefined if the claim has no name. */
function wordsOf(payload: JWTPayload, name: string): readonly string[] | undefined {
  if (name === "") return undefined;
  // A claim can have the name of a property that every object inherits.
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

/**
 * The most tokens that are kept. The clients of a server are services, and each sends its token
 * many times.
 */
const max = 10_000;

/** The most tenants that all kept tokens may name together. A token names one or a few. */
const maxTenants = 100_000;

/** The rights that a token gives, their expiry, and the keys that verified the token. */
interface Finding {
  readonly credential: Credential;
  readonly keys: KeySet;
  /** Seconds since 1970, as in the token. */
  readonly expires: number;
}

/**
 * A cache of verified tokens, because verifying one costs as much as a check. An entry is valid as
 * long as the token and the key set are: each fetch makes a new set. It stores digests, which
 * cannot be used as tokens.
 */
export interface VerifiedTokens {
  find(token: string, keys: KeySet | undefined): Credential | undefined;
  add(token: string, finding: Finding): void;
}

function verifiedTokens(): VerifiedTokens {
  const findings = new LRUCache<string, Finding>({
    max,
    maxSize: maxTenants,
    sizeCalculation: ({ credential }) => 1 + (credential.tenants?.size ?? 0),
  });
  const digest = (token: string): string => hash("sha256", token, "base64");
  return {
    find(token, keys) {
      const found = findings.get(digest(token));
      if (found === undefined || found.keys !== keys) return undefined;
      return Date.now() < found.expires * 1_000 ? found.credential : undefined;
    },
    add(token, finding) {
      findings.set(digest(token), finding);
    },
  };
}
