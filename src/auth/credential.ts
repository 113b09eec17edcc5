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
