import type { TenantId } from "../base/tuple.ts";
import { parseTenantId } from "./field.ts";
import type { Service } from "./service.ts";

/** Removes the tenant and all it holds. Fails with TENANT_NOT_FOUND. */
export async function deleteTenant(
  service: Service,
  request: { readonly id: string },
): Promise<TenantId> {
  const id = parseTenantId(request.id, "id");
  await service.store.tenants.delete(id);
  return id;
}
