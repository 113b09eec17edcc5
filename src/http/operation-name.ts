/** The operation of requests without a route. */
export const unknownOperation = "unknown";

const tenantPrefix = /^\/v1\/(tenants\/:tenant_id\/)?/;

/** The name of a route in all transports: the words of its path, without parameters. */
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
