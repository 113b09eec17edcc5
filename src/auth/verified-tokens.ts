import { hash } from "node:crypto";

import { LRUCache } from "lru-cache";

import type { KeySet } from "./key-set.ts";

/** How many are kept: the clients of a server are services, and each sends its token many times. */
const max = 10_000;

/** Until when a token is good, and by which keys it was found so. */
interface Finding {
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
  has(token: string, keys: KeySet | undefined): boolean;
  add(token: string, finding: Finding): void;
}

export function verifiedTokens(): VerifiedTokens {
  const findings = new LRUCache<string, Finding>({ max });
  const digest = (token: string): string => hash("sha256", token, "base64");
  return {
    has(token, keys) {
      const found = findings.get(digest(token));
      return found !== undefined && found.keys === keys && Date.now() < found.expires * 1_000;
    },
    add(token, finding) {
      findings.set(digest(token), finding);
    },
  };
}
