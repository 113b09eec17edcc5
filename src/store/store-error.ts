import { PembaError } from "../base/error.ts";
import { quote } from "../base/quote.ts";
import type { SchemaVersion, TenantId } from "../base/tuple.ts";

export function tenantNotFound(tenant: TenantId): PembaError {
  return new PembaError("TENANT_NOT_FOUND", `no tenant \`${tenant}\``);
}

export function tenantTaken(tenant: TenantId): PembaError {
  return new PembaError("UNIQUE_CONSTRAINT", `id: a tenant \`${tenant}\` exists already`, {
    details: [{ field: "id", message: `a tenant \`${tenant}\` exists already` }],
  });
}

/** `version` undefined: the tenant has no schema at all. */
export function schemaNotFound(tenant: TenantId, version: SchemaVersion | undefined): PembaError {
  return new PembaError(
    "SCHEMA_NOT_FOUND",
    version === undefined
      ? `tenant \`${tenant}\` has no schema yet, write one first`
      : `tenant \`${tenant}\` has no schema version ${quote(version)}`,
  );
}

/** The token of a request cannot be read here. `problem` completes the message. */
export function invalidSnapToken(problem: string): PembaError {
  return new PembaError("INVALID_SNAP_TOKEN", `metadata.snap_token: ${problem}`, {
    details: [{ field: "metadata.snap_token", message: problem }],
  });
}

/** The token of a request names a state in which the tenant had not been created. */
export function snapTokenBeforeTenant(): PembaError {
  return invalidSnapToken("names a state from before this tenant was created");
}

/** The token of a request names a state that is no longer kept. */
export function expiredSnapToken(): PembaError {
  return new PembaError(
    "SNAP_TOKEN_EXPIRED",
    "metadata.snap_token: is older than the history that is kept, use a newer one",
  );
}
