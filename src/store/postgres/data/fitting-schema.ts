import { PembaError } from "../../../base/error.ts";
import type { Steps } from "../../../base/steps.ts";
import { runInSlices } from "../../../base/time-slice.ts";
import type { SchemaVersion, TenantId } from "../../../base/tuple.ts";
import type { Schema } from "../../../language/schema.ts";
import type { CompiledSchema, CompiledSchemas } from "../../compiled-schemas.ts";

/**
 * The given version, or the head, once `validate` has nothing against it. What does not fit the head
 * as it was last seen may fit the head as it is, and an error must not come from a schema that is
 * gone: `validate` then gets the head that is.
 */
export async function fittingSchema(
  schemas: CompiledSchemas,
  tenant: TenantId,
  version: SchemaVersion | undefined,
  validate: (schema: Schema) => Steps<void>,
): Promise<CompiledSchema> {
  const known = await schemas.find(tenant, version);
  try {
    await runInSlices(validate(known.schema), undefined);
    return known;
  } catch (error) {
    if (!(error instanceof PembaError)) throw error;
    const current = await schemas.reload(tenant, version);
    if (current.version === known.version) throw error;
    await runInSlices(validate(current.schema), undefined);
    return current;
  }
}
