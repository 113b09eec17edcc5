import { fieldError, PembaError } from "../base/error.ts";
import { quote } from "../base/quote.ts";
import type { TenantId } from "../base/tuple.ts";

export function tenantNotFound(tenant: TenantId): PembaError {
  return new PembaError("TENANT_NOT_FOUND", `no tenant \`${tenant}\``);
}

export function tenantTaken(tenant: TenantId): PembaError {
  return new PembaError("UNIQUE_CONSTRAINT", `id: a tenant \`${tenant}\` exists already`, {
    details: [{ field: "id", message: `a tenant \`${tenant}\` exists already` }],
  });
}

/** `version` undefined: the tenant has no schema at all. */
export function schemaNotFound(tenant: TenantId, version: string | undefined): PembaError {
  return new PembaError(
    "SCHEMA_NOT_FOUND",
    version === undefined
      ? `tenant \`${tenant}\` has no schema yet, write one first`
      : `tenant \`${tenant}\` has no schema version ${quote(version)}`,
  );
}

const usualTokenField = "metadata.snap_token";

/** What an error says of a token that was never one. */
export const malformedSnapToken = "is malformed, expected a token of an earlier answer";

/** The token of a request cannot be read here. `problem` completes the message. */
export function invalidSnapToken(problem: string): PembaError {
  return fieldError("INVALID_SNAP_TOKEN", usualTokenField, problem);
}

/** Runs `work` on a token in another field than usual, which errors about it then name. */
export function withTokenIn<T>(field: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof PembaError)) throw error;
    if (error.code !== "INVALID_SNAP_TOKEN" && error.code !== "SNAP_TOKEN_EXPIRED") throw error;
    throw fieldError(error.code, field, error.plainMessage.slice(`${usualTokenField}: `.length));
  }
}

const beforeTenant = "names a state from before this tenant was created";

/** The token of a request names a state in which the tenant had not been created. */
export function snapTokenBeforeTenant(): PembaError {
  return invalidSnapToken(beforeTenant);
}

/** Is it an error of `snapTokenBeforeTenant`? */
export function isBeforeTenant(error: unknown): error is PembaError {
  const isInvalid = error instanceof PembaError && error.code === "INVALID_SNAP_TOKEN";
  return isInvalid && error.plainMessage.endsWith(beforeTenant);
}

/** The same of a tenant that has moved: the token may be of the time before. */
export function snapTokenBeforeMove({ plainMessage }: PembaError): PembaError {
  const field = plainMessage.slice(0, -`: ${beforeTenant}`.length);
  const problem = "is from before the tenant moved to its cluster, use a token of a newer answer";
  return new PembaError("SNAP_TOKEN_EXPIRED", `${field}: ${problem}`);
}

/** The token of a request names a state that is no longer kept. */
export function expiredSnapToken(): PembaError {
  const problem = "is older than the history that is kept, use a newer one";
  return new PembaError("SNAP_TOKEN_EXPIRED", `${usualTokenField}: ${problem}`);
}

/** The token of a request was given out by another cluster, and this one has the tenant. */
export function snapTokenOfOtherCluster(): PembaError {
  const problem =
    "is of another cluster than the one that the tenant is on, use a token of a newer answer";
  return new PembaError("SNAP_TOKEN_EXPIRED", `${usualTokenField}: ${problem}`);
}
