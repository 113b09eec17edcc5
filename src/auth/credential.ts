import type { Scope } from "../base/scope.ts";

/** What the bearer of a token may do. */
export interface Credential {
  /** What the log calls the bearer; undefined where there is no name. */
  readonly name: string | undefined;
  /** Undefined stands for all. */
  readonly scopes: ReadonlySet<Scope> | undefined;
  /** Ids of tenants; undefined stands for all. */
  readonly tenants: ReadonlySet<string> | undefined;
}

/** Of a bearer that may do everything in every tenant. */
export function fullCredential(name?: string): Credential {
  return { name, scopes: undefined, tenants: undefined };
}
