import { LRUCache } from "lru-cache";

import type { TenantId } from "../../base/tuple.ts";
import type { Directory, Placement } from "./directory.ts";

/** Some 20 MB: ids have at most 64 characters. */
const knownMax = 100_000;

/**
 * What this process knows of where tenants are. It may be out of date: the cluster that a tenant has left
 * does not have it, and then `find` looks anew.
 */
export class Placements {
  readonly #directory: Pick<Directory, "find">;
  readonly #known = new LRUCache<TenantId, string>({ max: knownMax });
  /** Looks that wait for their turn, by tenant. */
  readonly #waiting = new Map<TenantId, Promise<Placement | undefined>>();

  constructor(directory: Pick<Directory, "find">) {
    this.#directory = directory;
  }

  /** The name of the cluster, if it is known. */
  known(tenant: TenantId): string | undefined {
    return this.#known.get(tenant);
  }

  /**
   * Asks the directory for the placement. Resolves to undefined if the tenant is nowhere. The
   * answer is never older than the call: callers share a look that has not begun, and no other one.
   */
  async find(tenant: TenantId): Promise<Placement | undefined> {
    return await (this.#waiting.get(tenant) ?? this.#look(tenant));
  }

  /** The tenant was placed on this cluster. */
  learn(tenant: TenantId, cluster: string): void {
    this.#known.set(tenant, cluster);
  }

  /** The tenant was deleted. */
  forget(tenant: TenantId): void {
    this.#known.delete(tenant);
  }

  #look(tenant: TenantId): Promise<Placement | undefined> {
    let isWaiting = true;
    const end = (): void => {
      if (isWaiting) this.#waiting.delete(tenant);
      isWaiting = false;
    };
    const look = this.#find(tenant, end);
    if (isWaiting) this.#waiting.set(tenant, look);
    // A look that is refused never begins.
    look.then(end, end);
    return look;
  }

  async #find(tenant: TenantId, begun: () => void): Promise<Placement | undefined> {
    const found = await this.#directory.find(tenant, begun);
    if (found === undefined) this.#known.delete(tenant);
    else this.#known.set(tenant, found.cluster);
    return found;
  }
}
