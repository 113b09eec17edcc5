import {
  createLocalJWKSet,
  errors,
  importJWK,
  type JSONWebKeySet,
  type JWK,
  type JWTVerifyGetKey,
} from "jose";

/** The keys that an issuer signs with, as it published them. */
export interface KeySet {
  /** Whether a key has this id, whatever it is good for. */
  has(kid: string): boolean;
  /** Whether anybody who can read the set can sign. */
  readonly holdsSecrets: boolean;
  /** The key for the header of a token. */
  readonly find: JWTVerifyGetKey;
}

/** Fails with an error of `jose` when it is no key set. */
export function keySetOf(published: JSONWebKeySet): KeySet {
  const findPublic = createLocalJWKSet(published);
  const { keys } = published;
  const secrets = keys.filter(({ kty }) => kty === "oct");
  const ids = new Set(keys.map(({ kid }) => kid));
  return {
    has: (kid) => ids.has(kid),
    holdsSecrets: secrets.length > 0,
    // A key is only ever used for what its own type is for: a public one is no secret of an HMAC.
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
