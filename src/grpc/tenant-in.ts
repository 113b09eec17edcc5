import type { TenantId } from "../base/tuple.ts";

/** The tag of the first field of a message, when that is a text. */
const firstTextTag = 0x0a;

/** No id of a tenant is longer, so that its length takes one byte. */
const lengthMax = 127;

/**
 * The tenant that a request begins with, without reading the rest: field 1 of all requests that have a
 * tenant. Undefined when the bytes begin with something else. In a request without a tenant, field 1
 * may be another text, which then counts as a tenant.
 */
export function tenantIn(bytes: Buffer): TenantId | undefined {
  const length = bytes[1];
  if (bytes[0] !== firstTextTag || length === undefined) return undefined;
  if (length === 0 || length > lengthMax) return undefined;
  return bytes.toString("latin1", 2, 2 + length) as TenantId;
}
