import { createHmac, createSecretKey, timingSafeEqual } from "node:crypto";

/**
 * Computes the message authentication code of a token's content. It cannot be made without the key.
 */
export type TokenMac = (content: Uint8Array) => Buffer;

/** Makes the codes for one kind of token. They do not verify tokens of another kind. */
export function tokenMac(secret: string, kind: "continuous" | "snap"): TokenMac {
  // A key object costs a fifth of a key in bytes, which matters in streams of ids.
  const key = createSecretKey(createHmac("sha256", secret).update(`${kind} token`).digest());
  return (content) => createHmac("sha256", key).update(content).digest();
}

/** Whether the code of the content begins with `given`. */
export function isMacOf(mac: TokenMac, content: Uint8Array, given: Uint8Array): boolean {
  return timingSafeEqual(mac(content).subarray(0, given.length), given);
}
