import { hash } from "node:crypto";

import { LRUCache } from "lru-cache";

import { PembaError } from "../base/error.ts";
import { heapBytes } from "../base/heap-bytes.ts";
import type { Steps } from "../base/steps.ts";
import type { Telemetry } from "../base/telemetry.ts";
import type { SchemaVersion, TenantId } from "../base/tuple.ts";
import { compileSchemaTextSteps } from "../language/compile.ts";
import type { Schema } from "../language/schema.ts";
import { lower } from "../plan/passes/1-lower.ts";
import { HeldBytes, KeptMap } from "./kept.ts";
import { ParsedSchemas } from "./parsed-schemas.ts";
import { type CompiledText, Planner } from "./planner.ts";
import type { StoredSchema } from "./schema-store.ts";

export interface CompiledSchema {
  readonly version: SchemaVersion;
  readonly text: string;
  /** One for all tenants and versions with the same text. */
  readonly compiled: CompiledText;
  readonly schema: Schema;
}

/** The state of the cache, for metrics. */
export interface CacheState {
  readonly hits: number;
  readonly misses: number;
  readonly entries: number;
  /** Of the schemas, their plans and statements. */
  readonly bytes: number;
}

interface Head {
  readonly version: SchemaVersion;
  /** Of its text, once that was looked at: most questions are asked under the head. */
  key: string | undefined;
}

/** Fails with TENANT_NOT_FOUND or SCHEMA_NOT_FOUND. `version` undefined: the head. */
export type LoadSchema = (
  tenant: TenantId,
  version: SchemaVersion | undefined,
) => Promise<StoredSchema>;

let texts = 0;

/**
 * Heads and versions are a few hundred bytes each; one cache must not push out the other. A limit of
 * sizes, since for a limit of entries a cache takes its space at once: 10 ms and a megabyte each.
 */
const manyEntries = { maxSize: 100_000, sizeCalculation: () => 1 };

export interface SchemaCacheLimits {
  readonly maxBytes: number;
  /** Texts, each of which may be the schema of any number of tenants. */
  readonly maxEntries?: number | undefined;
}

/** The schemas in use, compiled. Versions never change, so only which one is the head can be stale. */
export class CompiledSchemas {
  readonly #load: LoadSchema;
  /** Plans of the schemas, which count against the same limit. */
  readonly planner: Planner;
  /** The same schemas as they were written. */
  readonly parsed: ParsedSchemas;
  /** What schemas, plans and statements hold together. */
  readonly limit: HeldBytes;
  readonly #texts: KeptMap<CompiledText>;
  /**
   * A number for each tenant of which a version is kept. A tenant that is forgotten loses it, so that what
   * is kept under it is not found again: to look for all of it would take a walk through what all have.
   */
  readonly #numbers = new LRUCache<TenantId, number>(manyEntries);
  #lastNumber = 0;
  /** Keys of texts by the number of the tenant and version. */
  readonly #versions = new LRUCache<string, string>(manyEntries);
  readonly #heads = new LRUCache<TenantId, Head>(manyEntries);
  readonly #loading = new Map<string, Promise<CompiledSchema>>();
  #hits = 0;
  #misses = 0;

  constructor(load: LoadSchema, options: SchemaCacheLimits) {
    this.#load = load;
    this.limit = new HeldBytes(options.maxBytes);
    this.#texts = new KeptMap(this.limit, ({ bytes }) => bytes, options.maxEntries);
    this.planner = new Planner(this.limit);
    this.parsed = new ParsedSchemas(this.limit);
  }

  /**
   * That version, at once where it is known; it may be of a tenant that is gone, or of a former one of
   * that name. Without one the head that was last seen, asked of the store only when none was: it may
   * be stale, and the statement that works with it says so. Fails as the store does.
   */
  find(
    tenant: TenantId,
    version: SchemaVersion | undefined,
  ): CompiledSchema | Promise<CompiledSchema> {
    const known = this.known(tenant, version);
    if (known !== undefined) {
      this.#hits += 1;
      return known;
    }
    const wanted = version ?? this.knownHead(tenant);
    return version === undefined && wanted !== undefined
      ? this.#loadHead(tenant, wanted)
      : this.#loadShared(tenant, version);
  }

  /** What `find` gives at once, if it does. It is not counted: the question that asks finds it again. */
  known(tenant: TenantId, version: SchemaVersion | undefined): CompiledSchema | undefined {
    if (version !== undefined) return this.#compiled(version, this.#textKey(tenant, version));
    const head = this.#heads.get(tenant);
    if (head === undefined) return undefined;
    head.key ??= this.#textKey(tenant, head.version);
    return this.#compiled(head.version, head.key);
  }

  async #loadHead(tenant: TenantId, head: SchemaVersion): Promise<CompiledSchema> {
    try {
      return await this.#loadShared(tenant, head);
    } catch (error) {
      if (!(error instanceof PembaError) || error.code !== "SCHEMA_NOT_FOUND") throw error;
      // Another instance deleted the tenant and created it anew: the head was of the former one.
      this.forget(tenant);
      return await this.#loadShared(tenant, undefined);
    }
  }

  /** How often a schema was found and was not, and what is kept. */
  get state(): CacheState {
    const entries = this.#texts.size;
    return { hits: this.#hits, misses: this.#misses, entries, bytes: this.limit.bytes };
  }

  /** A text, compiled, whether or not it is a schema of a tenant. Fails as compiling does. */
  async compileText(text: string): Promise<CompiledText> {
    return await this.#texts.find(hash("sha256", text, "base64"), () => this.#compile(text));
  }

  /** Loads the schema from the storage again, even if it is in the cache. `version` undefined: the head. */
  async reload(tenant: TenantId, version: SchemaVersion | undefined): Promise<CompiledSchema> {
    const former = this.knownHead(tenant);
    const stored = await this.#load(tenant, version);
    const key = hash("sha256", stored.text, "base64");
    const compiled = await this.#texts.find(key, () => this.#compile(stored.text));
    this.#versions.set(versionKey(this.#numberOf(tenant), stored.version), key);
    if (version === undefined) this.seenHead(tenant, stored.version, former);
    return schemaOf(stored.version, compiled);
  }

  /** The head that was last seen, without asking the storage. */
  knownHead(tenant: TenantId): SchemaVersion | undefined {
    return this.#heads.get(tenant)?.version;
  }

  /**
   * The storage has said which version is the head; undefined: the tenant has no schema. It was asked when the head
   * was taken to be `former`: when another one was seen meanwhile, the newer of them stays.
   */
  seenHead(
    tenant: TenantId,
    version: SchemaVersion | undefined,
    former: SchemaVersion | undefined,
  ): void {
    const known = this.knownHead(tenant);
    if (known !== undefined && known !== former && known > (version ?? "")) return;
    if (version === undefined) this.#heads.delete(tenant);
    else if (version !== known) this.#heads.set(tenant, { version, key: undefined });
  }

  /** The tenant is gone: its name may come to stand for another. */
  forget(tenant: TenantId): void {
    this.#heads.delete(tenant);
    this.#numbers.delete(tenant);
  }

  #textKey(tenant: TenantId, version: SchemaVersion): string | undefined {
    const number = this.#numbers.get(tenant);
    return number === undefined ? undefined : this.#versions.get(versionKey(number, version));
  }

  #numberOf(tenant: TenantId): number {
    const known = this.#numbers.get(tenant);
    if (known !== undefined) return known;
    this.#lastNumber += 1;
    this.#numbers.set(tenant, this.#lastNumber);
    return this.#lastNumber;
  }

  #compiled(version: SchemaVersion, key: string | undefined): CompiledSchema | undefined {
    const compiled = key === undefined ? undefined : this.#texts.get(key);
    return compiled === undefined ? undefined : schemaOf(version, compiled);
  }

  *#compile(text: string): Steps<CompiledText> {
    const schema = yield* compileSchemaTextSteps(text);
    const network = yield* lower(schema);
    const bytes = yield* heapBytes(
      { text, schema, network },
      { isShared: () => false, countsStrings: true },
    );
    texts += 1;
    return { id: texts, text, schema, network, bytes };
  }

  /**
   * Callers that miss the same version share one load, which may have begun before they asked. What it finds
   * may be stale. But that there is nothing is believed only from a load that began later: the caller may
   * know that the tenant was created meanwhile.
   */
  async #loadShared(tenant: TenantId, version: SchemaVersion | undefined): Promise<CompiledSchema> {
    this.#misses += 1;
    const earlier = this.#loading.get(loadKey(tenant, version));
    if (earlier === undefined) return await this.#startLoad(tenant, version);
    try {
      return await earlier;
    } catch (error) {
      if (!(error instanceof PembaError) || error.kind !== "not_found") throw error;
      // One that runs now began when the earlier one had ended.
      const later = this.#loading.get(loadKey(tenant, version));
      return await (later ?? this.#startLoad(tenant, version));
    }
  }

  #startLoad(tenant: TenantId, version: SchemaVersion | undefined): Promise<CompiledSchema> {
    const key = loadKey(tenant, version);
    const loading = this.reload(tenant, version).finally(() => this.#loading.delete(key));
    this.#loading.set(key, loading);
    return loading;
  }
}

function schemaOf(version: SchemaVersion, compiled: CompiledText): CompiledSchema {
  return { version, text: compiled.text, compiled, schema: compiled.schema };
}

function versionKey(tenant: number, version: SchemaVersion): string {
  return `${tenant} ${version}`;
}

/** A tenant id holds no blank. */
function loadKey(tenant: TenantId, version: SchemaVersion | undefined): string {
  return `${tenant} ${version ?? ""}`;
}

/** Reports hits, misses and size of the cache of schemas. */
export function observeSchemas(
  { observe }: Pick<Telemetry, "observe">,
  schemas: Pick<CompiledSchemas, "state">,
): void {
  observe("pemba.schema.cache.hits", () => [{ value: schemas.state.hits, labels: {} }]);
  observe("pemba.schema.cache.misses", () => [{ value: schemas.state.misses, labels: {} }]);
  observe("pemba.schema.cache.entries", () => [{ value: schemas.state.entries, labels: {} }]);
  observe("pemba.schema.cache.size", () => [{ value: schemas.state.bytes, labels: {} }]);
}
