import { test } from "node:test";

import { fileEngines } from "./file-engines.ts";
import { anyLawCase } from "./generate-laws.ts";
import { type LawCase, lawCaseText, lawFaults } from "./law-faults.ts";
import { assertNoFaults, randomRuns } from "./random-run.ts";

/**
 * Tests that no answer changes when the parts of a schema get names, change places or are grouped
 * otherwise, nor by other names and by what nothing refers to. No oracle is needed to see that.
 */
export function testRandomLaws(defaultCases: number): void {
  const engines = fileEngines();
  for (const run of randomRuns(defaultCases)) {
    test(`no answer changes where a schema says the same in another way, in ${run.cases} random cases`, async (t) => {
      t.diagnostic(`PEMBA_SEED=${run.seed}`);
      const faults = (one: LawCase): Promise<readonly string[]> => lawFaults(engines(), one);
      await assertNoFaults(anyLawCase, run, {
        faults,
        text: async (one) => [...(await faults(one)), lawCaseText(one)].join("\n"),
      });
    });
  }
}
