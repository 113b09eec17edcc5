import type { NamedTenant } from "../base/tuple.ts";

/** The tag of the first field of a message, when that is a text. */
const firstTextTag = 0x0a;

/** The longest id of a tenant. Its length alone takes two bytes. */
const lengthMax = 128;
const longest = Buffer.from([0x80, 0x01]);

/**
 * The tenant that a request begins with, without reading the rest: field 1 of all requests that have a
 * tenant. Undefined when the bytes begin with something else. In a request without a tenant, field 1
 * may be another text, which then counts as a tenant.
 */
export function tenantIn(bytes: Buffer): NamedTenant | undefined {
  const length = bytes[1];
  if (bytes[0] !== firstTextTag || length === undefined || length === 0) return undefined;
  if (length < lengthMax) return bytes.toString("latin1", 2, 2 + length);
  if (!bytes.subarray(1, 3).equals(longest)) return undefined;
  return bytes.toString("latin1", 3, 3 + lengthMax);
}
