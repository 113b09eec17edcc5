import { presentCaller } from "../base/caller.ts";
import { runInSlices } from "../base/time-slice.ts";
import type { SchemaVersion } from "../base/tuple.ts";
import { compileSchemaTextSteps } from "../language/compile.ts";
import type { Schema } from "../language/schema.ts";
import { type Absent, parseSchemaVersion, parseTenantId, requireObject } from "./field.ts";
import type { Service } from "./service.ts";

export interface ReadSchemaRequest {
  readonly tenantId: string;
  readonly metadata?: { readonly schemaVersion?: string | Absent } | Absent;
}

/** The pinned version, or the head. Fails with SCHEMA_NOT_FOUND. */
export async function readSchema(
  service: Service,
  request: ReadSchemaRequest,
): Promise<{ readonly version: SchemaVersion; readonly schema: Schema }> {
  const tenant = parseTenantId(request.tenantId);
  const metadata = requireObject(request.metadata, "metadata");
  const version = parseSchemaVersion(metadata.schemaVersion);
  const stored = await service.store.schemas.read(tenant, version);
  const schema = await runInSlices(compileSchemaTextSteps(stored.text), presentCaller()?.signal);
  return { version: stored.version, schema };
}
