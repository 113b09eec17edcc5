import type { TenantId } from "../../base/tuple.ts";
import { type Bundle, bundleNotFound } from "../bundle.ts";
import { tenantNotFound } from "../store-error.ts";

/** The bundles of a tenant. */
interface KnownBundles {
  readonly byName: Map<string, Bundle>;
  /** Ascending by their bytes in UTF-8, as the database has them. */
  readonly names: string[];
}

/** The bundles of all tenants. Nothing here waits. */
export class MemoryBundles {
  readonly #tenants = new Map<TenantId, KnownBundles>();

  /** Makes room for a tenant that does not exist yet. */
  addTenant(tenant: TenantId): void {
    this.#tenants.set(tenant, { byName: new Map(), names: [] });
  }

  removeTenant(tenant: TenantId): void {
    this.#tenants.delete(tenant);
  }

  /** Each takes the place of what has its name. Fails with TENANT_NOT_FOUND, as all here do. */
  write(tenant: TenantId, bundles: readonly Bundle[]): void {
    const { byName, names } = this.#bundlesOf(tenant);
    for (const bundle of bundles) {
      if (!byName.has(bundle.name)) names.splice(countBelow(names, bundle.name), 0, bundle.name);
      byName.set(bundle.name, bundle);
    }
  }

  /** Fails with BUNDLE_NOT_FOUND. */
  read(tenant: TenantId, name: string): Bundle {
    const bundle = this.#bundlesOf(tenant).byName.get(name);
    if (bundle === undefined) throw bundleNotFound(name);
    return bundle;
  }

  /** At most `limit` names after `after`, ascending. */
  list(tenant: TenantId, after: string | undefined, limit: number): readonly string[] {
    const { byName, names } = this.#bundlesOf(tenant);
    const start = after === undefined ? 0 : countBelow(names, after) + (byName.has(after) ? 1 : 0);
    return names.slice(start, start + limit);
  }

  /** Fails with BUNDLE_NOT_FOUND. */
  delete(tenant: TenantId, name: string): void {
    const { byName, names } = this.#bundlesOf(tenant);
    if (!byName.delete(name)) throw bundleNotFound(name);
    names.splice(countBelow(names, name), 1);
  }

  #bundlesOf(tenant: TenantId): KnownBundles {
    const bundles = this.#tenants.get(tenant);
    if (bundles === undefined) throw tenantNotFound(tenant);
    return bundles;
  }
}

/** How many of the ascending names come before a name. */
function countBelow(names: readonly string[], name: string): number {
  const bytes = Buffer.from(name);
  let low = 0;
  let high = names.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (Buffer.compare(Buffer.from(names[middle] ?? ""), bytes) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}
