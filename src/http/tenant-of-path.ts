import type { NamedTenant } from "../base/tuple.ts";

const tenantPrefix = "/v1/tenants/";
const prefixParts = 3;

/** What is longer is no tenant's id. */
const tenantCharacters = 128;

/**
 * The tenant that a path names. No token has been looked at: it decides about order alone, and a
 * request with no right to the tenant delays those of that tenant, as it does without any order.
 */
export function tenantOfPath(url = ""): NamedTenant | undefined {
  const path = plainPath(url);
  if (!path.startsWith(tenantPrefix)) return undefined;
  // Nearly always a slash ends it. To search with a pattern costs more.
  const slash = path.indexOf("/", tenantPrefix.length);
  const rest =
    slash === -1 ? path.slice(tenantPrefix.length) : path.slice(tenantPrefix.length, slash);
  const query = rest.search(/[?#]/);
  const tenant = decoded(query === -1 ? rest : rest.slice(0, query)).slice(0, tenantCharacters);
  return tenant === "" ? undefined : tenant;
}

/** The path as the router reads it, but for the escapes behind the prefix: all spellings name one tenant. */
function plainPath(url: string): string {
  if (url.startsWith(tenantPrefix)) return url;
  const path = url.startsWith("/") ? url : url.replace(/^https?:\/\/[^/?]*\//i, "/");
  const parts = path.split("/", prefixParts);
  const prefix = parts.map((part) => `${decoded(part)}/`).join("");
  return prefix === tenantPrefix ? prefix + path.slice(parts.join("/").length + 1) : path;
}

/** A wrong escape stays as it is: the router refuses it. */
function decoded(part: string): string {
  if (!part.includes("%")) return part;
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
