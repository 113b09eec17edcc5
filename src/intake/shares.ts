import { PembaError } from "../base/error.ts";
import type { TenantId } from "../base/tuple.ts";

/** All tenants together may hold as many times what one tenant may hold. */
const tenantsAtMost = 4;

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
export class Shares {
  readonly #ofTenant: number;
  readonly #ofAll: number;
  readonly #resource: SharedResource;
  readonly #held = new Map<TenantId | undefined, number>();
  #all = 0;

  constructor(ofTenant: number, resource: SharedResource) {
    this.#ofTenant = ofTenant;
    this.#ofAll = ofTenant * tenantsAtMost;
    this.#resource = resource;
  }

  /** Counts so much more for the tenant. Fails with CONCURRENCY_LIMIT_EXCEEDED, and counts nothing. */
  take(tenant: TenantId | undefined, amount: number): void {
    const held = (this.#held.get(tenant) ?? 0) + amount;
    const { excess, key, advice } = this.#resource;
    if (held > this.#ofTenant) {
      const problem = `the tenant has ${excess}, expected at most ${this.#ofTenant} (\`${key}\`)`;
      throw new PembaError("CONCURRENCY_LIMIT_EXCEEDED", `${problem}, ${advice}`);
    }
    if (this.#all + amount > this.#ofAll) {
      const limit = `${this.#ofAll} (${tenantsAtMost} times \`${key}\`)`;
      const problem = `all tenants together have ${excess}, expected at most ${limit}`;
      throw new PembaError("CONCURRENCY_LIMIT_EXCEEDED", `${problem}, ${advice}`);
    }
    this.#held.set(tenant, held);
    this.#all += amount;
  }

  /** Counts so much less for the tenant. */
  giveBack(tenant: TenantId | undefined, amount: number): void {
    const held = (this.#held.get(tenant) ?? 0) - amount;
    if (held > 0) this.#held.set(tenant, held);
    else this.#held.delete(tenant);
    this.#all -= amount;
  }
}
