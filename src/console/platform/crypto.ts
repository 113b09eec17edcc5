import { sha256 } from "@noble/hashes/sha2.js";

/** Stands in for Node's `hash`, for the one algorithm that the engine uses. */
export function hash(
  _algorithm: "sha256",
  data: string | Uint8Array,
  encoding: "hex" | "base64" | "binary" | "buffer" = "hex",
): string | Buffer {
  const bytes = typeof data === "string" ? Buffer.from(data) : data;
  const digest = Buffer.from(sha256(bytes));
  return encoding === "buffer" ? digest : digest.toString(encoding);
}

/** Stands in for Node's `randomBytes`. */
export function randomBytes(length: number): Buffer {
  return Buffer.from(crypto.getRandomValues(new Uint8Array(length)));
}

/** Tokens of this engine never leave the page, so the time of a comparison tells nothing to anyone else. */
export function timingSafeEqual(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && one.every((byte, index) => byte === other[index]);
}
