import { parseBundleName, parseTenantId } from "./field.ts";
import type { NamedBundleRequest } from "./read-bundle.ts";
import type { Service } from "./service.ts";

/** Returns the name of what is gone. Fails with BUNDLE_NOT_FOUND. */
export async function deleteBundle(service: Service, request: NamedBundleRequest): Promise<string> {
  const tenant = parseTenantId(request.tenantId);
  const name = parseBundleName(request.name, "name");
  await service.store.bundles.delete(tenant, name);
  return name;
}
