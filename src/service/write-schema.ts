import { must } from "../base/assert.ts";
import { presentCaller } from "../base/caller.ts";
import { runInSlices } from "../base/time-slice.ts";
import type { SchemaVersion } from "../base/tuple.ts";
import { compileSchemaTextSteps } from "../language/compile.ts";
import { type Absent, missingField, parseTenantId, parseText } from "./field.ts";
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
  if (request.schema === undefined || request.schema === null) {
    throw missingField("schema", "the text of a schema");
  }
  const text = parseText(request.schema, "schema");
  await runInSlices(compileSchemaTextSteps(text), presentCaller()?.signal);
  return must(
    await service.store.schemas.write(tenant, { text }),
    "a write without a base has nothing to conflict with",
  );
}
