import { hash, randomBytes, timingSafeEqual } from "node:crypto";

import { PembaError } from "../base/error.ts";
import type { Authenticator } from "./admission.ts";
import { type Credential, fullCredential } from "./credential.ts";

/** A key and the rights of its bearer. */
export interface LimitedKey {
  readonly key: string;
  readonly credential: Credential;
}

/**
 * Accepts a token that is one of the keys. Those in `keys` have all rights. Digests are compared,
 * and all of them, so that the duration does not show the length of a key, how much of it was
 * right, or which one it was.
 */
export function presharedKeys(
  keys: readonly string[],
  limited: readonly LimitedKey[] = [],
): Authenticator {
  // With a salt, outsiders do not know what is compared.
  const salt = randomBytes(32).toString("hex");
  const digest = (text: string): Buffer => hash("sha256", salt + text, "buffer");
  const full = keys.map((key, nth): LimitedKey => {
    return { key, credential: fullCredential(`authn.preshared.keys[${nth}]`) };
  });
  const known = [...full, ...limited].map(({ key, credential }) => {
    return { digest: digest(key), credential };
  });
  return {
    async verify(token) {
      const given = digest(token);
      const [found] = known.filter((one) => timingSafeEqual(one.digest, given));
      if (found === undefined) {
        throw new PembaError("INVALID_KEY", "authorization: the token is not a key of this server");
      }
      return found.credential;
    },
    close: async () => {},
  };
}
