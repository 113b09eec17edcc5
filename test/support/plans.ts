import { must } from "../../src/base/assert.ts";
import type { SchemaVersion, TenantId } from "../../src/base/tuple.ts";
import { type CompiledSchema, CompiledSchemas } from "../../src/store/compiled-schemas.ts";
import { CheckPlans } from "../../src/store/postgres/questions/check-plan.ts";
import { LookupPlans } from "../../src/store/postgres/questions/lookup-plan.ts";

/** What plans questions for Postgres, over one schema. */
export interface Plans {
  readonly compiled: CompiledSchema;
  readonly schemas: CompiledSchemas;
  readonly checks: CheckPlans;
  readonly lookups: LookupPlans;
}

const tenant = "plans" as TenantId;
const version = "1" as SchemaVersion;

export async function plansOver(text: string): Promise<Plans> {
  const stored = { version, text, createdAt: new Date() };
  const schemas = new CompiledSchemas(async () => await Promise.resolve(stored), {
    maxBytes: 64 * 1024 * 1024,
  });
  const compiled = must(await schemas.find(tenant, version), "the schema compiles");
  return {
    compiled,
    schemas,
    checks: new CheckPlans(schemas),
    lookups: new LookupPlans(schemas),
  };
}
