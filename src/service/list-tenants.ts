import { newTenantPattern, type TenantId } from "../base/tuple.ts";
import type { Tenant } from "../store/store.ts";
import { continuousToken, parseTextCursor, type TokenScope } from "./continuous-token.ts";
import { type Absent, defaultPageSize, parsePageSize, tenantPattern } from "./field.ts";
import type { Service } from "./service.ts";

export interface ListTenantsRequest {
  readonly pageSize?: number | Absent;
  readonly continuousToken?: string | Absent;
  /** The ids that the caller may know of; all when absent. */
  readonly among?: ReadonlySet<string> | undefined;
}

/** Ascending by id. */
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
    // What is no id is that of no tenant.
    among: request.among && new Set([...request.among].filter((id) => tenantPattern.test(id))),
  });
  return { tenants: page.items, continuousToken: continuousToken(scope, page.next) };
}

function isTenantId(text: string): text is TenantId {
  return newTenantPattern.test(text);
}
