import { must } from "../base/assert.ts";
import { presentCaller } from "../base/caller.ts";
import { fieldError, PembaError } from "../base/error.ts";
import { runInSlices } from "../base/time-slice.ts";
import type { SchemaVersion, TenantId } from "../base/tuple.ts";
import { compileSchemaTextSteps } from "../language/compile.ts";
import { applyPartials, type EntityPartial } from "../language/partial.ts";
import type { Schema } from "../language/schema.ts";
import { isSchemaVersion } from "../store/schema-version.ts";
import { continuousToken, parseTextCursor, type TokenScope } from "./continuous-token.ts";
import {
  type Absent,
  missingField,
  parseTenantId,
  parseText,
  parseSchemaVersion,
  requireObject,
  defaultPageSize,
  parsePageSize,
  parseName,
} from "./field.ts";
import type { Service } from "./service.ts";

export interface WriteSchemaRequest {
  readonly tenantId: string;
  readonly schema?: string | Absent;
}

/** Makes the text the head of the tenant's schema. Fails with the position of the first fault. */
export async function writeSchema(
  service: Service,
  request: WriteSchemaRequest,
): Promise<SchemaVersion> {
  const tenant = parseTenantId(request.tenantId);
  const text = parseSchemaText(request.schema);
  await runInSlices(compileSchemaTextSteps(text), presentCaller()?.signal);
  return must(
    await service.store.schemas.write(tenant, { text }),
    "a write without a base has nothing to conflict with",
  );
}

/** The text of a schema, which is not looked into. */
export function parseSchemaText(raw: string | Absent): string {
  if (raw === undefined || raw === null) throw missingField("schema", "the text of a schema");
  return parseText(raw, "schema");
}

export interface ReadSchemaRequest {
  readonly tenantId: string;
  readonly metadata?: { readonly schemaVersion?: string | Absent } | Absent;
}

/** Reads the pinned version, or the head. Fails with SCHEMA_NOT_FOUND. */
export async function readSchema(
  service: Service,
  request: ReadSchemaRequest,
): Promise<{ readonly version: SchemaVersion; readonly schema: Schema }> {
  const tenant = parseTenantId(request.tenantId);
  const metadata = requireObject(request.metadata, "metadata");
  const version = parseSchemaVersion(tenant, metadata.schemaVersion);
  const stored = await service.store.schemas.read(tenant, version);
  const schema = await runInSlices(compileSchemaTextSteps(stored.text), presentCaller()?.signal);
  return { version: stored.version, schema };
}

export interface ReadSchemaTextRequest {
  readonly tenantId: string;
  /** Empty or absent: the head. */
  readonly schemaVersion?: string | Absent;
}

/** Reads the text of a version as it was written, with its comments. Fails with SCHEMA_NOT_FOUND. */
export async function readSchemaText(
  service: Service,
  request: ReadSchemaTextRequest,
): Promise<{ readonly version: SchemaVersion; readonly text: string }> {
  const tenant = parseTenantId(request.tenantId);
  const version = parseSchemaVersion(tenant, request.schemaVersion, "schema_version");
  return await readStored(service, tenant, version);
}

/** Reads a version, or the head. SCHEMA_NOT_FOUND names the field of a version. */
export async function readStored(
  { store }: Service,
  tenant: TenantId,
  version: SchemaVersion | undefined,
): Promise<{ readonly version: SchemaVersion; readonly text: string }> {
  try {
    return await store.schemas.read(tenant, version);
  } catch (error) {
    const isUnknown = error instanceof PembaError && error.code === "SCHEMA_NOT_FOUND";
    if (!isUnknown || version === undefined) throw error;
    throw fieldError(error.code, "schema_version", error.plainMessage);
  }
}

export interface ListSchemasRequest {
  readonly tenantId: string;
  readonly pageSize?: number | Absent;
  readonly continuousToken?: string | Absent;
}

export interface ListedSchemas {
  /** Undefined if the tenant has no schema. */
  readonly head: SchemaVersion | undefined;
  readonly schemas: readonly { readonly version: SchemaVersion; readonly createdAt: Date }[];
  readonly continuousToken: string;
}

/** The versions of a tenant's schema, newest first. */
export async function listSchemas(
  service: Service,
  request: ListSchemasRequest,
): Promise<ListedSchemas> {
  const tenant = parseTenantId(request.tenantId);
  const limit = parsePageSize(request.pageSize, defaultPageSize);
  const scope: TokenScope = {
    mac: service.store.pageMac,
    operation: "schemas/list",
    tenant,
    query: null,
  };
  const before = parseTextCursor(scope, request.continuousToken, isSchemaVersion);
  const page = await service.store.schemas.list(tenant, { before, limit });
  return {
    head: page.head,
    schemas: page.items,
    continuousToken: continuousToken(scope, page.next),
  };
}

type RawPartial = { readonly [Part in keyof EntityPartial]?: readonly string[] | Absent };

export interface PartialWriteSchemaRequest {
  readonly tenantId: string;
  readonly metadata?: { readonly schemaVersion?: string | Absent } | Absent;
  /** The changes to each entity, by its name. Absent changes nothing. */
  readonly partials?: ReadonlyMap<string, RawPartial> | Absent;
}

/**
 * Each lost race means that another write succeeded, so this limit is never reached in practice.
 */
const maxRaces = 100;

/**
 * Changes entities of the pinned version or the head, and makes the result the new head. Without a
 * pinned version, concurrent changes build on each other: none is lost.
 */
export async function partialWriteSchema(
  service: Service,
  request: PartialWriteSchemaRequest,
): Promise<SchemaVersion> {
  const tenant = parseTenantId(request.tenantId);
  const metadata = requireObject(request.metadata, "metadata");
  const pinned = parseSchemaVersion(tenant, metadata.schemaVersion);
  const partials = parsePartials(request.partials ?? new Map());
  for (let races = 0; races < maxRaces; races++) {
    const base = await service.store.schemas.read(tenant, pinned);
    const text = await runInSlices(applyPartials(base.text, partials), presentCaller()?.signal);
    const written = await service.store.schemas.write(
      tenant,
      pinned === undefined ? { text, base: base.version } : { text },
    );
    if (written !== undefined) return written;
  }
  throw new PembaError("SERIALIZATION", "other requests changed the schema each time, retry");
}

function parsePartials(
  partials: ReadonlyMap<string, RawPartial>,
): ReadonlyMap<string, EntityPartial> {
  const entries = [...partials].map(([entity, partial]): [string, EntityPartial] => {
    parseName(entity, "partials");
    const field = `partials.${entity}`;
    const part = (texts: readonly string[] | Absent, name: string): readonly string[] =>
      (texts ?? []).map((text, index) => parseText(text, `${field}.${name}[${index}]`));
    return [
      entity,
      {
        write: part(partial.write, "write"),
        writePermissions: part(partial.writePermissions, "write_permissions"),
        update: part(partial.update, "update"),
        delete: part(partial.delete, "delete"),
      },
    ];
  });
  return new Map(entries);
}
