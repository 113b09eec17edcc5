import { PembaError } from "../base/error.ts";
import type { NamedTenant } from "../base/tuple.ts";

/** All tenants together may hold as many times what one tenant may hold. */
export const tenantsAtMost = 4;

/** What is shared, in the words of an error. */
export interface SharedResource {
  /** What the tenant has, such as `too many requests under way`. */
  readonly excess: string;
  /** The configuration key of the share of one tenant. */
  readonly key: string;
  /** What a client can do, such as `retry in a second`. */
  readonly advice: string;
}

/**
 * Counts what tenants hold of a resource of which there is only so much. What belongs to no tenant
 * counts as held by one more tenant.
 */
export interface Shares {
  /**
   * Counts so much more for the tenant. Fails with CONCURRENCY_LIMIT_EXCEEDED, and counts nothing. Where
   * other processes use the same limit, it may have to ask for more: then the result is a promise, and
   * the amount counts when it resolves.
   */
  take(tenant: NamedTenant | undefined, amount: number): undefined | Promise<void>;
  /** Counts so much less for the tenant. Only for what was taken. */
  giveBack(tenant: NamedTenant | undefined, amount: number): void;
}

/** The error of a tenant that would hold more than `ofTenant`. */
export function tooMuchOfTenant(
  ofTenant: number,
  { excess, key, advice }: SharedResource,
): PembaError {
  const problem = `the tenant has ${excess}, expected at most ${ofTenant} (\`${key}\`)`;
  return new PembaError("CONCURRENCY_LIMIT_EXCEEDED", `${problem}, ${advice}`);
}

/** The error when all tenants together would hold more than their multiple of `ofTenant`. */
export function tooMuchOfAll(
  ofTenant: number,
  { excess, key, advice }: SharedResource,
): PembaError {
  const limit = `${ofTenant * tenantsAtMost} (${tenantsAtMost} times \`${key}\`)`;
  const problem = `all tenants together have ${excess}, expected at most ${limit}`;
  return new PembaError("CONCURRENCY_LIMIT_EXCEEDED", `${problem}, ${advice}`);
}

/** The shares of the only process that uses a limit. */
export class OwnShares implements Shares {
  readonly #ofTenant: number;
  readonly #resource: SharedResource;
  readonly #held = new Map<NamedTenant | undefined, number>();
  #all = 0;

  constructor(ofTenant: number, resource: SharedResource) {
    this.#ofTenant = ofTenant;
    this.#resource = resource;
  }

  take(tenant: NamedTenant | undefined, amount: number): undefined {
    const held = (this.#held.get(tenant) ?? 0) + amount;
    if (held > this.#ofTenant) throw tooMuchOfTenant(this.#ofTenant, this.#resource);
    if (this.#all + amount > this.#ofTenant * tenantsAtMost) {
      throw tooMuchOfAll(this.#ofTenant, this.#resource);
    }
    this.#held.set(tenant, held);
    this.#all += amount;
    return undefined;
  }

  giveBack(tenant: NamedTenant | undefined, amount: number): void {
    const held = (this.#held.get(tenant) ?? 0) - amount;
    if (held > 0) this.#held.set(tenant, held);
    else this.#held.delete(tenant);
    this.#all -= amount;
  }
}
