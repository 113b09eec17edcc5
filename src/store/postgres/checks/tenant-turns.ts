import type { TenantId } from "../../../base/tuple.ts";

/** A queue in which tenants take turns: one who brings much waits for itself alone. */
export class TenantTurns<T extends { readonly tenant: TenantId }> {
  /** In the order of their turns; sets keep the order in which things came. */
  readonly #tenants = new Map<TenantId, Set<T>>();

  add(waiting: T): void {
    const queue = this.#tenants.get(waiting.tenant);
    if (queue === undefined) this.#tenants.set(waiting.tenant, new Set([waiting]));
    else queue.add(waiting);
  }

  remove(waiting: T): void {
    const queue = this.#tenants.get(waiting.tenant);
    queue?.delete(waiting);
    if (queue?.size === 0) this.#tenants.delete(waiting.tenant);
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
      if (queue.size > 0) this.#tenants.set(tenant, queue);
      return first;
    }
    return undefined;
  }
}
