import type { TenantId } from "../../base/tuple.ts";
import { type Bundle, bundleNotFound } from "../bundle.ts";
import { tenantNotFound } from "../store-error.ts";

/** The bundles of all tenants. Nothing here waits. */
export class MemoryBundles {
  readonly #tenants = new Map<TenantId, Map<string, Bundle>>();

  /** Makes room for a tenant that does not exist yet. */
  addTenant(tenant: TenantId): void {
    this.#tenants.set(tenant, new Map());
  }

  removeTenant(tenant: TenantId): void {
    this.#tenants.delete(tenant);
  }

  /** Each takes the place of what has its name. Fails with TENANT_NOT_FOUND, as all here do. */
  write(tenant: TenantId, bundles: readonly Bundle[]): void {
    const known = this.#bundlesOf(tenant);
    for (const bundle of bundles) known.set(bundle.name, bundle);
  }

  /** Fails with BUNDLE_NOT_FOUND. */
  read(tenant: TenantId, name: string): Bundle {
    const bundle = this.#bundlesOf(tenant).get(name);
    if (bundle === undefined) throw bundleNotFound(name);
    return bundle;
  }

  /** Fails with BUNDLE_NOT_FOUND. */
  delete(tenant: TenantId, name: string): void {
    if (!this.#bundlesOf(tenant).delete(name)) throw bundleNotFound(name);
  }

  #bundlesOf(tenant: TenantId): Map<string, Bundle> {
    const bundles = this.#tenants.get(tenant);
    if (bundles === undefined) throw tenantNotFound(tenant);
    return bundles;
  }
}
