import { Caller, forCaller } from "../../base/caller.ts";
import { errorOf, PembaError } from "../../base/error.ts";
import type { TenantId } from "../../base/tuple.ts";
import type { Page } from "../page.ts";
import { tenantNotFound, tenantTaken } from "../store-error.ts";
import type { NewTenant, Tenant, TenantStore } from "../store.ts";
import type { Cluster } from "./cluster.ts";
import type { Clusters } from "./clusters.ts";
import type { Directory, Placement } from "./directory.ts";
import type { Moving } from "./moving.ts";
import type { Placements } from "./placements.ts";

/** After so many attempts, other requests for the same id have come in between each time. */
const attemptsMax = 5;

/** A creation or deletion that is older was left by a crash, or by a cluster that did not answer. */
const settleAfterMs = 300_000;
const settleMax = 1_000;

/** A cluster whose store was open when it was asked for. */
type OpenCluster = Pick<Cluster, "name" | "store">;

/**
 * Creates and deletes tenants on their clusters. A tenant and its placement are of different databases, so
 * no transaction holds both: a placement is there before the tenant and until after it. In between, its
 * state says what is done, and the cluster decides whether there is a tenant.
 */
export class PlacedTenants implements TenantStore {
  readonly #directory: Directory;
  readonly #placements: Placements;
  readonly #moving: Pick<Moving, "ended">;
  readonly #clusters: Clusters;

  constructor(parts: {
    readonly directory: Directory;
    readonly placements: Placements;
    readonly moving: Pick<Moving, "ended">;
    readonly clusters: Clusters;
  }) {
    this.#directory = parts.directory;
    this.#placements = parts.placements;
    this.#moving = parts.moving;
    this.#clusters = parts.clusters;
  }

  async create(tenant: NewTenant): Promise<Tenant> {
    const { name, store } = this.#clusters.choose(tenant);
    for (let attempt = 0; attempt < attemptsMax; attempt++) {
      const isBegun =
        (await this.#directory.begin(tenant, name)) || (await this.#takesOver(tenant.id, name));
      if (isBegun) return await this.#createOn({ name, store }, tenant);
    }
    throw contested();
  }

  async delete(id: TenantId): Promise<void> {
    for (let attempt = 0; attempt < attemptsMax; attempt++) {
      const placement = await this.#directory.beginDeletion(id);
      if (placement !== undefined) return await this.#deleteAt(placement);
      if ((await this.#placements.find(id)) === undefined) throw tenantNotFound(id);
      // It was placed only now, or a creation has not noted its end.
      const found = await this.#directory.read(id);
      if (found?.state === "moving") await this.#moving.ended(id);
      if (found?.state !== "creating") continue;
      const made = await tenantAt(this.#clusters.named(found.cluster), id);
      if (made === undefined) throw tenantNotFound(id);
      await this.#directory.confirm(made, found.cluster);
    }
    throw contested();
  }

  async list(page: Parameters<TenantStore["list"]>[0]): Promise<Page<Tenant, TenantId>> {
    return await this.#directory.list(page);
  }

  /**
   * Ends what a crash or an outage has left between two states, until the signal is aborted. A cluster
   * that does not answer does not keep that of others waiting for the next pass.
   */
  async settleOld(signal: AbortSignal): Promise<void> {
    const failures: unknown[] = [];
    for (const { name } of this.#clusters.all) {
      if (signal.aborted) return;
      try {
        await this.#settleOldOn(name, signal);
      } catch (error) {
        if (errorOf(error).kind !== "unavailable") failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
  }

  async #settleOldOn(cluster: string, signal: AbortSignal): Promise<void> {
    const old = { forMs: settleAfterMs, limit: settleMax };
    for (const placement of await this.#directory.unsettled(cluster, old)) {
      if (signal.aborted) return;
      await this.#settle(placement);
    }
  }

  /**
   * Continues a creation that another request has begun, perhaps on another cluster. Resolves to false if
   * the placement changed meanwhile. Fails with UNIQUE_CONSTRAINT if there is such a tenant.
   */
  async #takesOver(id: TenantId, cluster: string): Promise<boolean> {
    const placement = await this.#directory.read(id);
    if (placement === undefined) {
      // It is in the database of the directory without a placement, or was deleted at this moment.
      await this.#placements.find(id);
      return false;
    }
    // Its cluster may not have it at this moment.
    if (placement.state === "moving") throw tenantTaken(id);
    const isCreating = placement.state === "creating";
    if (isCreating && placement.cluster === cluster) return true;
    const made = await tenantAt(this.#clusters.named(placement.cluster), id);
    if (made === undefined && isCreating) {
      return await this.#directory.chooseAgain(placement, cluster);
    }
    if (made === undefined) {
      await this.#forget(placement);
      return false;
    }
    if (isCreating) await this.#directory.confirm(made, placement.cluster);
    throw tenantTaken(id);
  }

  /** The cluster decides which of several requests creates the tenant. */
  async #createOn(target: OpenCluster, { id, name }: NewTenant): Promise<Tenant> {
    let made: Tenant;
    try {
      made = await target.store.tenants.create({ id, name });
    } catch (error) {
      if (isCode(error, "UNIQUE_CONSTRAINT")) await this.#confirmOther(target, id);
      throw error;
    }
    const created = { ...made, cluster: target.name };
    await withoutCaller(async () => {
      const isConfirmed = await this.#directory.confirm(created, target.name);
      if (!isConfirmed) await this.#placeAgain(target, created);
    });
    this.#placements.learn(id, target.name);
    return created;
  }

  /** The request that has made the tenant may have ended before it noted that. */
  async #confirmOther(target: OpenCluster, id: TenantId): Promise<void> {
    const other = await tenantAt(target, id);
    if (other !== undefined) await this.#directory.confirm(other, target.name);
  }

  /** The tenant was made, and its placement is not one of its creation any more. */
  async #placeAgain(target: OpenCluster, created: Tenant): Promise<void> {
    const { id } = created;
    for (let attempt = 0; attempt < attemptsMax; attempt++) {
      const placement = await this.#directory.read(id);
      // Confirmed by another request, and perhaps deleted since.
      if (placement?.cluster === target.name) return;
      if (placement !== undefined) {
        // Another request leads it to another cluster. No answer has named this one.
        await deleteIfThere(target, id);
        throw tenantTaken(id);
      }
      // Deleted since, or its creation took so long that the placement was removed.
      if ((await tenantAt(target, id)) === undefined) return;
      if ((await this.#directory.find(id)) !== undefined) continue;
      if (!(await this.#directory.begin(created, target.name))) continue;
      if (await this.#directory.confirm(created, target.name)) return;
    }
    throw contested();
  }

  async #deleteAt(placement: Placement): Promise<void> {
    const { tenant, cluster } = placement;
    try {
      await this.#clusters.named(cluster).store.tenants.delete(tenant);
    } catch (error) {
      if (isCode(error, "TENANT_NOT_FOUND")) await this.#forget(placement);
      throw error;
    }
    await withoutCaller(async () => await this.#forget(placement));
  }

  /** Its cluster does not have the tenant any more. */
  async #forget(placement: Placement): Promise<void> {
    const { tenant, cluster } = placement;
    this.#placements.forget(tenant);
    if (await this.#directory.remove(placement)) return;
    // Another request may have found the tenant before it was deleted, and have noted that it stays.
    const now = await this.#directory.read(tenant);
    if (now?.cluster !== cluster || now.state === "creating") return;
    if ((await tenantAt(this.#clusters.named(cluster), tenant)) === undefined) {
      await this.#directory.remove(now);
    }
  }

  /** Ends what is noted of a tenant by what its cluster has. */
  async #settle(placement: Placement): Promise<void> {
    const { tenant, cluster, state } = placement;
    const found = await tenantAt(this.#clusters.named(cluster), tenant);
    if (found === undefined) await this.#forget(placement);
    else if (state === "creating") await this.#directory.confirm(found, cluster);
    else await this.#directory.keep(placement);
  }
}

/** Does work that follows a change of a cluster. It goes on when the caller of the change leaves. */
async function withoutCaller<T>(work: () => Promise<T>): Promise<T> {
  return await forCaller(new Caller(new AbortController()), work);
}

async function tenantAt({ store }: OpenCluster, id: TenantId): Promise<Tenant | undefined> {
  const among = new Set([id]);
  return (await store.tenants.list({ after: undefined, limit: 1, among })).items[0];
}

async function deleteIfThere({ store }: OpenCluster, id: TenantId): Promise<void> {
  try {
    await store.tenants.delete(id);
  } catch (error) {
    if (!isCode(error, "TENANT_NOT_FOUND")) throw error;
  }
}

function contested(): PembaError {
  return new PembaError("SERIALIZATION", "other requests create or delete this tenant, retry");
}

/** Is it an error of Pemba with this code? */
export function isCode(error: unknown, code: PembaError["code"]): boolean {
  return error instanceof PembaError && error.code === code;
}
