import type { DescMethod, Message } from "@bufbuild/protobuf";

import { type Credential, permitTenant } from "../auth/credential.ts";
import { Tenancy } from "../gen/base/v1/tenancy_pb.ts";
import { Tenancy as PembaTenancy } from "../gen/pemba/v1/tenancy_pb.ts";

/** Requests of these services name a tenant by its id. */
const tenancies: ReadonlySet<string> = new Set([Tenancy.typeName, PembaTenancy.typeName]);

/** Whether requests of a method name a tenant. Requests that list tenants do not. */
export function namesTenant({ parent, input }: DescMethod): boolean {
  return tenancies.has(parent.typeName) || "tenantId" in input.field;
}

/** Fails with TENANT_NOT_ALLOWED if the request names a tenant that the token is not for. */
export function permitTenantOf(method: DescMethod, request: Message, credential: Credential): void {
  const tenant = tenantOf(method, request);
  if (tenant !== undefined) permitTenant(credential, tenant);
}

/**
 * The tenant of a request. Requests of tenancy name it by its id. Undefined if the request names
 * none, which the method refuses.
 */
function tenantOf({ parent }: DescMethod, request: Message): string | undefined {
  const field = tenancies.has(parent.typeName) ? "id" : "tenantId";
  const tenant: unknown = Reflect.get(request, field);
  return typeof tenant === "string" && tenant !== "" ? tenant : undefined;
}
