import type { FileResult } from "../../model-test/run/case-result.ts";
import type { OpenTenant } from "../../model-test/run/memory-tenant.ts";
import { runScenarios } from "../../model-test/run/run-model.ts";
import { writeModel } from "../../model-test/run/write-model.ts";
import type { ModelAttempt } from "./load-model.ts";

/** Runs what was loaded in a tenant of its own. What cannot be written is not asked. */
export async function runAttempt(
  { location, model, problems, warnings }: ModelAttempt,
  openTenant: () => Promise<OpenTenant>,
): Promise<FileResult> {
  const result = { path: location, problems, warnings, cases: [] };
  if (model === undefined) return result;
  const tenant = await openTenant();
  try {
    const refused = await writeModel(tenant, model);
    if (refused.length > 0) return { ...result, problems: refused };
    return { ...result, cases: await runScenarios(tenant, model.file.scenarios) };
  } finally {
    await tenant.close();
  }
}
