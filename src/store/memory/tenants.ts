import { compareTexts, sortInSteps } from "../../base/sort-steps.ts";
import { Pace, type Steps } from "../../base/steps.ts";
import type { SchemaVersion, TenantId } from "../../base/tuple.ts";
import type { SchemaWrite, StoredSchema } from "../schema-store.ts";
import { newSchemaVersion } from "../schema-version.ts";
import { schemaNotFound, tenantNotFound, tenantTaken } from "../store-error.ts";
import type { Tenant } from "../store.ts";
import { KeyOrder, ofIds } from "./key-order.ts";

interface Registered {
  readonly tenant: Tenant;
  /** In the order in which they were written: the last one is the head. */
  readonly schemas: Map<SchemaVersion, StoredSchema>;
  head: StoredSchema | undefined;
}

/**
 * The tenants and their schemas. Nothing here waits, so what is read stays true until one does: a list alone is
 * made in steps.
 */
export class MemoryTenants {
  readonly #tenants = new Map<TenantId, Registered>();
  readonly #ids = new KeyOrder(this.#tenants);

  create({ id, name }: { readonly id: TenantId; readonly name: string }): Tenant {
    if (this.#tenants.has(id)) throw tenantTaken(id);
    const tenant = { id, name, createdAt: new Date() };
    this.#tenants.set(id, { tenant, schemas: new Map(), head: undefined });
    this.#ids.added(id);
    return tenant;
  }

  delete(id: TenantId): void {
    if (!this.#tenants.delete(id)) throw tenantNotFound(id);
    this.#ids.removed();
  }

  /** At most `limit` tenants with an id above `after`, ascending; of all, or of these ids. */
  *list({
    after,
    limit,
    among,
  }: {
    readonly after: TenantId | undefined;
    readonly limit: number;
    readonly among: ReadonlySet<string> | undefined;
  }): Steps<readonly Tenant[]> {
    const found: Tenant[] = [];
    const ids =
      among === undefined
        ? yield* this.#ids.from(after ?? "")
        : yield* sortInSteps([...among], compareTexts);
    const pace = new Pace();
    const hasEnough = (): boolean => found.length === limit;
    for (const { tenant } of ofIds(this.#tenants, ids, { hasEnough })) {
      if (pace.step()) yield;
      if (after === undefined || tenant.id > after) found.push(tenant);
    }
    return found;
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
