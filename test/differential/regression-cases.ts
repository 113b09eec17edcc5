import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import type { Case } from "./case.ts";
import type { LookupCase } from "./lookup-case.ts";

/** What failed once and is kept, with what a lookup adds where it does. */
export interface KeptCase extends Case, Partial<Omit<LookupCase, keyof Case>> {
  readonly file: string;
}

/** The cases of test/regressions. */
export function keptCases(): readonly KeptCase[] {
  const folder = join(import.meta.dirname, "..", "regressions");
  return readdirSync(folder)
    .filter((name) => name.endsWith(".json"))
    .map((file) => ({ ...JSON.parse(readFileSync(join(folder, file), "utf8")), file }));
}
