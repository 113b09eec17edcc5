import {
  createLocalJWKSet,
  errors,
  importJWK,
  type JSONWebKeySet,
  type JWK,
  type JWTVerifyGetKey,
} from "jose";

/** The published signing keys of an issuer. */
export interface KeySet {
  /** Whether a key has this id, for any use. */
  has(kid: string): boolean;
  /** Whether everyone who can read the set can sign. */
  readonly holdsSecrets: boolean;
  /** Finds the key for the header of a token. */
  readonly find: JWTVerifyGetKey;
}

/** Parses a key set. Fails with an error of `jose` if it is invalid. */
export function keySetOf(published: JSONWebKeySet): KeySet {
  const findPublic = createLocalJWKSet(published);
  const { keys } = published;
  const secrets = keys.filter(({ kty }) => kty === "oct");
  const ids = new Set(keys.map(({ kid }) => kid));
  return {
    has: (kid) => ids.has(kid),
    holdsSecrets: secrets.length > 0,
    // A key is only used for its own type, so a public key cannot become an HMAC secret.
    find: async (header, token) => {
      if (!header.alg.startsWith("HS")) return await findPublic(header, token);
      const secret = secrets.find((key) => isFor(key, header));
      if (secret === undefined) throw new errors.JWKSNoMatchingKey();
      return await importJWK(secret, header.alg);
    },
  };
}

function isFor(
  { kid, alg, use }: JWK,
  header: { readonly alg: string; readonly kid?: string },
): boolean {
  return (
    kid === header.kid &&
    (alg === undefined || alg === header.alg) &&
    (use === undefined || use === "sig")
  );
}
