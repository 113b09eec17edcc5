import type { Bundle } from "../store/bundle.ts";
import { type Absent, parseBundleName, parseTenantId } from "./field.ts";
import type { Service } from "./service.ts";

export interface NamedBundleRequest {
  readonly tenantId: string;
  readonly name?: string | Absent;
}

/** Fails with BUNDLE_NOT_FOUND. */
export async function readBundle(service: Service, request: NamedBundleRequest): Promise<Bundle> {
  const tenant = parseTenantId(request.tenantId);
  return await service.store.bundles.read(tenant, parseBundleName(request.name, "name"));
}
