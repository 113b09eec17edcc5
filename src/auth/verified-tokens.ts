import { hash } from "node:crypto";

import { LRUCache } from "lru-cache";

import type { Credential } from "./credential.ts";
import type { KeySet } from "./key-set.ts";

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

export function verifiedTokens(): VerifiedTokens {
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
