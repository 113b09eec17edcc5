import type { NamedTenant } from "./tuple.ts";

/**
 * A queue that is fair between tenants (round-robin): a tenant that adds many entries delays only
 * itself. Entries without a tenant count as those of one more tenant.
 */
export class FairQueue<T extends { readonly tenant: NamedTenant | undefined }> {
  /** The tenant whose entry is next stands first. A set keeps the order in which its entries came. */
  readonly #tenants = new Map<NamedTenant | undefined, Set<T>>();
  #size = 0;

  /** How many entries wait, of all tenants. */
  get size(): number {
    return this.#size;
  }

  /** Whether entries of the tenant wait. */
  has(tenant: NamedTenant | undefined): boolean {
    return this.#tenants.has(tenant);
  }

  /** Does nothing when it waits already. */
  add(waiting: T): void {
    const queue = this.#tenants.get(waiting.tenant);
    if (queue?.has(waiting) === true) return;
    if (queue === undefined) this.#tenants.set(waiting.tenant, new Set([waiting]));
    else queue.add(waiting);
    this.#size++;
  }

  /** Does nothing if the entry does not wait. */
  remove(waiting: T): void {
    const queue = this.#tenants.get(waiting.tenant);
    if (queue?.delete(waiting) !== true) return;
    this.#size--;
    if (queue.size === 0) this.#tenants.delete(waiting.tenant);
  }

  /**
   * Takes the oldest entry of the next tenant, which then becomes the last in order. A tenant whose
   * oldest entry may not go yet is skipped and keeps its position.
   */
  next(mayGo: (waiting: T) => boolean = () => true): T | undefined {
    for (const [tenant, queue] of this.#tenants) {
      const [first] = queue;
      if (first === undefined || !mayGo(first)) continue;
      this.#tenants.delete(tenant);
      queue.delete(first);
      this.#size--;
      if (queue.size > 0) this.#tenants.set(tenant, queue);
      return first;
    }
    return undefined;
  }

  /**
   * The newest entry of the tenant with the most entries, to be dropped for a new entry of
   * `tenant`. Undefined if no tenant has more entries than `tenant` would have with the new one:
   * dropping would then not make the queue fairer.
   */
  lastOfFullest(tenant: NamedTenant | undefined): T | undefined {
    let fullest: ReadonlySet<T> | undefined;
    let most = (this.#tenants.get(tenant)?.size ?? 0) + 1;
    for (const queue of this.#tenants.values()) {
      if (queue.size <= most) continue;
      fullest = queue;
      most = queue.size;
    }
    return fullest && [...fullest].at(-1);
  }
}
