import { createHmac, createSecretKey, timingSafeEqual } from "node:crypto";

/** The message authentication code of what a token says: without the key it cannot be made. */
export type TokenMac = (content: Uint8Array) => Buffer;

/** The codes of one kind of tokens, which are good for no other kind. */
export function tokenMac(secret: string, kind: "continuous" | "snap"): TokenMac {
  // A key that is an object costs a fifth of one that is bytes, which streams of ids feel.
  const key = createSecretKey(createHmac("sha256", secret).update(`${kind} token`).digest());
  return (content) => createHmac("sha256", key).update(content).digest();
}

/** Whether `given` is how the code of the content begins. */
export function isMacOf(mac: TokenMac, content: Uint8Array, given: Uint8Array): boolean {
  return timingSafeEqual(mac(content).subarray(0, given.length), given);
}
