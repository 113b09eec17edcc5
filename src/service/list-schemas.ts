import type { SchemaVersion } from "../base/tuple.ts";
import { isSchemaVersion } from "../store/schema-version.ts";
import { continuousToken, parseTextCursor, type TokenScope } from "./continuous-token.ts";
import { type Absent, defaultPageSize, parsePageSize, parseTenantId } from "./field.ts";
import type { Service } from "./service.ts";

export interface ListSchemasRequest {
  readonly tenantId: string;
  readonly pageSize?: number | Absent;
  readonly continuousToken?: string | Absent;
}

export interface ListedSchemas {
  /** Undefined while the tenant has no schema. */
  readonly head: SchemaVersion | undefined;
  readonly schemas: readonly { readonly version: SchemaVersion; readonly createdAt: Date }[];
  readonly continuousToken: string;
}

/** The versions of a tenant's schema, newest first. */
export async function listSchemas(
  service: Service,
  request: ListSchemasRequest,
): Promise<ListedSchemas> {
  const tenant = parseTenantId(request.tenantId);
  const limit = parsePageSize(request.pageSize, defaultPageSize);
  const scope: TokenScope = {
    mac: service.store.pageMac,
    operation: "schemas/list",
    tenant,
    query: null,
  };
  const before = parseTextCursor(scope, request.continuousToken, isSchemaVersion);
  const page = await service.store.schemas.list(tenant, { before, limit });
  return {
    head: page.head,
    schemas: page.items,
    continuousToken: continuousToken(scope, page.next),
  };
}
