import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import fc from "fast-check";

import type { Case } from "../differential/case.ts";
import { anyLookupCase } from "../differential/generate-lookup.ts";
import type { LookupCase } from "../differential/lookup-case.ts";
import { forms } from "./forms.ts";
import type { EngineName, Trial } from "./trial.ts";

const regressions = join(import.meta.dirname, "..", "regressions");

/** What the mutants are asked: the kept regressions, and as many random cases of one seed. */
export function trialsOf(seed: number, count: number): readonly Trial[] {
  const kept = readdirSync(regressions)
    .filter((name) => name.endsWith(".json"))
    .map((name): [string, LookupCase] => [name, regression(name)]);
  const random = fc
    .sample(anyLookupCase, { seed, numRuns: count })
    .map((one, place): [string, LookupCase] => [`case ${place}`, one]);
  const engines: readonly EngineName[] = ["memory", "postgres"];
  return [...kept, ...random]
    .flatMap(([name, one]) =>
      engines.flatMap((engine) =>
        forms.map((form) => ({ name: `${name}, ${form.name}, ${engine}`, one, form, engine })),
      ),
    )
    .map((trial, id) => ({ ...trial, id }));
}

function regression(name: string): LookupCase {
  const kept: Case & Partial<LookupCase> = JSON.parse(
    readFileSync(join(regressions, name), "utf8"),
  );
  return { scopes: [{}], pageSizes: [1, 2], meanwhile: [], ...kept };
}
