import { PembaError } from "../base/error.ts";
import { quote } from "../base/quote.ts";
import type { Scope } from "../base/scope.ts";

/** The rights of the bearer of a token. */
export interface Credential {
  /** The name of the bearer in the log. Undefined if there is none. */
  readonly name: string | undefined;
  /** Undefined means all. */
  readonly scopes: ReadonlySet<Scope> | undefined;
  /** Tenant ids. Undefined means all. */
  readonly tenants: ReadonlySet<string> | undefined;
}

/** The credential of a bearer with all rights in every tenant. */
export function fullCredential(name?: string): Credential {
  return { name, scopes: undefined, tenants: undefined };
}

/** Fails with INSUFFICIENT_SCOPE, naming the scope, if the bearer lacks it. */
export function permitScope({ scopes }: Credential, scope: Scope): void {
  if (scopes === undefined || scopes.has(scope)) return;
  throw insufficientScope(scope);
}

/** The error for a bearer who lacks a scope. */
export function insufficientScope(scope: Scope): PembaError {
  const message = `authorization: the token lacks the scope \`${scope}\``;
  return new PembaError("INSUFFICIENT_SCOPE", message);
}

/**
 * Fails with TENANT_NOT_ALLOWED if the bearer may not work in the tenant, whether or not the tenant
 * exists.
 */
export function permitTenant({ tenants }: Credential, tenant: string): void {
  if (tenants === undefined || tenants.has(tenant)) return;
  throw new PembaError(
    "TENANT_NOT_ALLOWED",
    `authorization: the token is not for the tenant ${quote(tenant)}`,
  );
}
