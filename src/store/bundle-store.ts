import type { SnapToken, TenantId } from "../base/tuple.ts";
import type { Bundle, DataOperation } from "./bundle.ts";
import type { Page } from "./page.ts";

export interface BundleStore {
  /** Writes all or none; each takes the place of what has its name. No name stands twice. */
  write(tenant: TenantId, bundles: readonly Bundle[]): Promise<void>;
  /** Fails with BUNDLE_NOT_FOUND. */
  read(tenant: TenantId, name: string): Promise<Bundle>;
  /** The names after `after`, or from the first one on, ascending by their bytes in UTF-8. */
  list(
    tenant: TenantId,
    page: { readonly after: string | undefined; readonly limit: number },
  ): Promise<Page<string, string>>;
  /** Fails with BUNDLE_NOT_FOUND. */
  delete(tenant: TenantId, name: string): Promise<void>;
  /**
   * Applies what `render` makes of the bundle, in order and in one transaction, after what it writes
   * has been validated against the head. The token names the state right after it. Fails with
   * BUNDLE_NOT_FOUND, and as `render` does, which is called again when the head changes meanwhile.
   */
  run(
    tenant: TenantId,
    name: string,
    render: (bundle: Bundle) => readonly DataOperation[] | Promise<readonly DataOperation[]>,
  ): Promise<SnapToken>;
}
