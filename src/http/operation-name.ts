/** What no route is there for. */
export const unknownOperation = "unknown";

const tenantPrefix = /^\/v1\/(tenants\/:tenant_id\/)?/;

/** A route as the API calls it whatever the transport: the words of the path, without those of places. */
export function operationOf({
  url,
  method,
}: {
  readonly url?: string | undefined;
  readonly method?: string | readonly string[] | undefined;
}): string {
  if (url === undefined) return unknownOperation;
  if (url === "/healthz") return "health.check";
  if (url === "/v1/tenants/:id") return method === "DELETE" ? "tenants.delete" : unknownOperation;
  return url.replace(tenantPrefix, "").replace(/^\//, "").replaceAll("/", ".");
}
