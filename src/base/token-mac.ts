import { hash, timingSafeEqual } from "node:crypto";

/**
 * Computes the message authentication code of a token's content. It cannot be made without the key.
 */
export type TokenMac = (content: Uint8Array) => Buffer;

const blockBytes = 64;
const digestBytes = 32;

/**
 * Makes the codes for one kind of token. They do not verify tokens of another kind. Those of the kind
 * `sql` are also made in SQL (`sql/interface/token-code.sql`).
 */
export function tokenMac(secret: string, kind: "continuous" | "snap" | "sql"): TokenMac {
  const key = hmac(keyOf(secret))(Buffer.from(`${kind} token`));
  return hmac(key);
}

/** Whether the code of the content begins with `given`. */
export function isMacOf(mac: TokenMac, content: Uint8Array, given: Uint8Array): boolean {
  return timingSafeEqual(mac(content).subarray(0, given.length), given);
}

/**
 * HMAC-SHA256 (RFC 2104), made of the two hashes that define it. An `Hmac` object of Node costs a write
 * several times as much, in its making and in the garbage collector.
 *
 * @param key at most 64 bytes
 */
function hmac(key: Uint8Array): TokenMac {
  const inner = padded(key, 0x36);
  const outer = Buffer.concat([padded(key, 0x5c), Buffer.alloc(digestBytes)]);
  return (content) => {
    outer.write(hash("sha256", Buffer.concat([inner, content]), "binary"), blockBytes, "binary");
    return Buffer.from(hash("sha256", outer, "binary"), "binary");
  };
}

/** A longer secret counts as its hash. */
function keyOf(secret: string): Uint8Array {
  const bytes = Buffer.from(secret);
  return bytes.length > blockBytes ? hash("sha256", bytes, "buffer") : bytes;
}

function padded(key: Uint8Array, pad: number): Uint8Array {
  return Buffer.alloc(blockBytes, pad).map((byte, index) => byte ^ (key[index] ?? 0));
}
