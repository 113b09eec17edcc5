import type { SchemaVersion, TenantId } from "../base/tuple.ts";
import type { Page } from "./page.ts";

export interface StoredSchema {
  readonly version: SchemaVersion;
  readonly text: string;
  readonly createdAt: Date;
}

export interface SchemaStore {
  /**
   * Makes `text`, which compiles, the head. With `base`, only when the head is still `base`
   * (compare and set): resolves to undefined when another write came between.
   */
  write(
    tenant: TenantId,
    schema: { readonly text: string; readonly base?: SchemaVersion },
  ): Promise<SchemaVersion | undefined>;
  /** The given version, or the head. Fails with SCHEMA_NOT_FOUND. */
  read(tenant: TenantId, version: SchemaVersion | undefined): Promise<StoredSchema>;
  /** Newest first; `head` is undefined while there is no schema. */
  list(
    tenant: TenantId,
    page: { readonly before: SchemaVersion | undefined; readonly limit: number },
  ): Promise<
    Page<{ readonly version: SchemaVersion; readonly createdAt: Date }, SchemaVersion> & {
      readonly head: SchemaVersion | undefined;
    }
  >;
  /** The head that was last seen here, without asking the storage; undefined if none was. */
  knownHead(tenant: TenantId): SchemaVersion | undefined;
  /** Another instance has seen this head: from now on nothing is answered here from an older one. */
  learnHead(tenant: TenantId, version: SchemaVersion): void;
}
