import { hash } from "node:crypto";

import { LRUCache } from "lru-cache";

import type { Credential } from "./credential.ts";
import type { KeySet } from "./key-set.ts";

/** How many are kept: the clients of a server are services, and each sends its token many times. */
const max = 10_000;

/** How many tenants all of them may name together: a token names one or a few. */
const maxTenants = 100_000;

/** What a token lets its bearer do, until when, and by which keys it was found so. */
interface Finding {
  readonly credential: Credential;
  readonly keys: KeySet;
  /** Seconds since 1970, as in the token. */
  readonly expires: number;
}

/**
 * Tokens that were found good, since verifying one costs as much as a check. A finding holds no longer
 * than the token, nor than the keys: they are another set after every fetch. What is kept is a digest,
 * which opens nothing.
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
