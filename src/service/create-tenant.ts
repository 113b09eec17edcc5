import type { Tenant } from "../store/store.ts";
import { type Absent, parseNewTenantId, parseTenantName } from "./field.ts";
import type { Service } from "./service.ts";

export interface CreateTenantRequest {
  readonly id?: string | Absent;
  readonly name?: string | Absent;
}

/** Fails with UNIQUE_CONSTRAINT when the id is taken. */
export async function createTenant(
  service: Service,
  request: CreateTenantRequest,
): Promise<Tenant> {
  const tenant = { id: parseNewTenantId(request.id), name: parseTenantName(request.name) };
  return await service.store.tenants.create(tenant);
}
