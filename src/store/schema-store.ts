import type { SchemaVersion, TenantId } from "../base/tuple.ts";
import type { Page } from "./page.ts";

export interface StoredSchema {
  readonly version: SchemaVersion;
  readonly text: string;
  readonly createdAt: Date;
}

/** The head that a write follows; empty when there is no schema yet. */
export type ExpectedHead = SchemaVersion | "";

export interface SchemaWrite {
  /** It compiles. */
  readonly text: string;
  /** Undefined: any head is replaced. */
  readonly base?: ExpectedHead | undefined;
}

export interface SchemaStore {
  /**
   * Makes a text the head. With `base`, only when the head is still `base` (compare and set): resolves
   * to undefined when another write came between.
   */
  write(tenant: TenantId, schema: SchemaWrite): Promise<SchemaVersion | undefined>;
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
