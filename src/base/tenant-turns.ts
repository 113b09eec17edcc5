import type { TenantId } from "./tuple.ts";

/**
 * A queue in which tenants take turns: one who brings much waits for itself alone. What is of no
 * tenant has turns as that of one more.
 */
export class TenantTurns<T extends { readonly tenant: TenantId | undefined }> {
  /** In the order of their turns; sets keep the order in which things came. */
  readonly #tenants = new Map<TenantId | undefined, Set<T>>();
  #size = 0;

  /** How much waits, of all tenants. */
  get size(): number {
    return this.#size;
  }

  add(waiting: T): void {
    const queue = this.#tenants.get(waiting.tenant);
    if (queue === undefined) this.#tenants.set(waiting.tenant, new Set([waiting]));
    else queue.add(waiting);
    this.#size++;
  }

  /** Does nothing when it does not wait. */
  remove(waiting: T): void {
    const queue = this.#tenants.get(waiting.tenant);
    if (queue?.delete(waiting) !== true) return;
    this.#size--;
    if (queue.size === 0) this.#tenants.delete(waiting.tenant);
  }

  /**
   * What waits longest of the tenant whose turn it is, which then has the last turn. A tenant of which
   * that may not go yet is passed by, and keeps its place.
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
   * What came last of the tenant of which most waits, to give way to one more of `tenant`. Undefined
   * when no more waits of any tenant than would then of this one: a place would only change hands.
   */
  lastOfFullest(tenant: TenantId | undefined): T | undefined {
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
