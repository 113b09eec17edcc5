import type { SchemaVersion, TenantId } from "../../base/tuple.ts";
import type { SchemaWrite, StoredSchema } from "../schema-store.ts";
import { newSchemaVersion } from "../schema-version.ts";
import { schemaNotFound, tenantNotFound, tenantTaken } from "../store-error.ts";
import type { Tenant } from "../store.ts";

interface Registered {
  readonly tenant: Tenant;
  /** In the order in which they were written: the last one is the head. */
  readonly schemas: Map<SchemaVersion, StoredSchema>;
  head: StoredSchema | undefined;
}

/** The tenants and their schemas. Nothing here waits, so what is read stays true until one does. */
export class MemoryTenants {
  readonly #tenants = new Map<TenantId, Registered>();

  create({ id, name }: { readonly id: TenantId; readonly name: string }): Tenant {
    if (this.#tenants.has(id)) throw tenantTaken(id);
    const tenant = { id, name, createdAt: new Date() };
    this.#tenants.set(id, { tenant, schemas: new Map(), head: undefined });
    return tenant;
  }

  delete(id: TenantId): void {
    if (!this.#tenants.delete(id)) throw tenantNotFound(id);
  }

  /** At most `limit` tenants with an id above `after`, ascending; of all, or of these ids. */
  list({
    after,
    limit,
    among,
  }: {
    readonly after: TenantId | undefined;
    readonly limit: number;
    readonly among: ReadonlySet<string> | undefined;
  }): readonly Tenant[] {
    return [...this.#tenants.values()]
      .map(({ tenant }) => tenant)
      .filter(({ id }) => after === undefined || id > after)
      .filter(({ id }) => among === undefined || among.has(id))
      .toSorted((a, b) => (a.id < b.id ? -1 : 1))
      .slice(0, limit);
  }

  /** Makes the text the head; undefined when `base` is given and not the head. */
  writeSchema(id: TenantId, { text, base }: SchemaWrite): SchemaVersion | undefined {
    const registered = this.#registered(id);
    const { head } = registered;
    if (base !== undefined && base !== (head?.version ?? "")) return undefined;
    const createdAt = new Date();
    const version = newSchemaVersion(head?.version, createdAt);
    registered.head = { version, text, createdAt };
    registered.schemas.set(version, registered.head);
    return version;
  }

  /** The given version, or the head. Fails with TENANT_NOT_FOUND or SCHEMA_NOT_FOUND. */
  readSchema(id: TenantId, version: SchemaVersion | undefined): StoredSchema {
    const { schemas, head } = this.#registered(id);
    const schema = version === undefined ? head : schemas.get(version);
    if (schema === undefined) throw schemaNotFound(id, version);
    return schema;
  }

  /** At most `limit` versions below `before`, newest first, and the head. */
  listSchemas(
    id: TenantId,
    before: SchemaVersion | undefined,
    limit: number,
  ): { readonly found: readonly StoredSchema[]; readonly head: SchemaVersion | undefined } {
    const { schemas, head } = this.#registered(id);
    const found = [...schemas.values()]
      .filter(({ version }) => before === undefined || version < before)
      .toReversed()
      .slice(0, limit);
    return { found, head: head?.version };
  }

  #registered(id: TenantId): Registered {
    const registered = this.#tenants.get(id);
    if (registered === undefined) throw tenantNotFound(id);
    return registered;
  }
}
