import { type TenantId, newTenantPattern } from "../base/tuple.ts";
import type { Tenant } from "../store/store.ts";
import { continuousToken, parseTextCursor, type TokenScope } from "./continuous-token.ts";
import {
  type Absent,
  invalidField,
  parseNewTenantId,
  parseTenantName,
  parseTenantId,
  defaultPageSize,
  parsePageSize,
  tenantPattern,
} from "./field.ts";
import type { Service } from "./service.ts";

export interface CreateTenantRequest {
  readonly id?: string | Absent;
  readonly name?: string | Absent;
  /** The name of the cluster that gets it. The server chooses one if it is absent or empty. */
  readonly cluster?: string | Absent;
}

/** Creates a tenant. Fails with UNIQUE_CONSTRAINT if the id is taken. */
export async function createTenant(
  service: Service,
  request: CreateTenantRequest,
): Promise<Tenant> {
  const tenant = { id: parseNewTenantId(request.id), name: parseTenantName(request.name) };
  const cluster = request.cluster || undefined;
  if (cluster !== undefined && service.store.clusters === undefined) {
    throw invalidField("cluster", "is given, expected none since the server has no clusters");
  }
  return await service.store.tenants.create({ ...tenant, cluster });
}

/** Removes the tenant with all its data. Fails with TENANT_NOT_FOUND. */
export async function deleteTenant(
  service: Service,
  request: { readonly id: string },
): Promise<TenantId> {
  const id = parseTenantId(request.id, "id");
  await service.store.tenants.delete(id);
  return id;
}

export interface ListTenantsRequest {
  readonly pageSize?: number | Absent;
  readonly continuousToken?: string | Absent;
  /** The ids that the caller may see. All if absent. */
  readonly among?: ReadonlySet<string> | undefined;
}

/** Lists tenants, ascending by id. */
export async function listTenants(
  service: Service,
  request: ListTenantsRequest,
): Promise<{ readonly tenants: readonly Tenant[]; readonly continuousToken: string }> {
  const limit = parsePageSize(request.pageSize, defaultPageSize);
  const scope: TokenScope = {
    mac: service.store.pageMac,
    operation: "tenants/list",
    tenant: "",
    query: null,
  };
  const page = await service.store.tenants.list({
    after: parseTextCursor(scope, request.continuousToken, isTenantId),
    limit,
    // A text that is not a valid id cannot match a tenant.
    among: request.among && new Set([...request.among].filter((id) => tenantPattern.test(id))),
  });
  return { tenants: page.items, continuousToken: continuousToken(scope, page.next) };
}

function isTenantId(text: string): text is TenantId {
  return newTenantPattern.test(text);
}
