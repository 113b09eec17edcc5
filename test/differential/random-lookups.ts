import { test } from "node:test";

import type fc from "fast-check";

import { caseText } from "./case.ts";
import type { Engines } from "./engines.ts";
import { fileEngines } from "./file-engines.ts";
import { guardedLookupCase } from "./generate-guards.ts";
import { anyLookupCase, crowdedLookupCase, largeLookupCase } from "./generate-lookup.ts";
import { guardedWayCase } from "./generate-ways.ts";
import { lookupDisagreements } from "./lookup-agreement.ts";
import type { LookupCase } from "./lookup-case.ts";
import { assertNoFaults, type RandomRun, randomRuns } from "./random-run.ts";

/** Of each round. */
export const lookupsAsked = 6;

/**
 * Tests that both engines find, at once and page by page while the data change, what the oracle
 * finds by trying every known id.
 */
export function testRandomLookups(defaultCases: number): void {
  const engines = fileEngines();
  for (const run of randomRuns(defaultCases)) testPart(engines, run);
}

function testPart(engines: () => Engines, run: RandomRun): void {
  const agreeOn = async (any: fc.Arbitrary<LookupCase>, cases: number): Promise<void> => {
    const faults = async (one: LookupCase): Promise<readonly string[]> => {
      const { memory, postgres } = engines();
      return await lookupDisagreements({ memory, postgres }, one, lookupsAsked);
    };
    const text = async (one: LookupCase): Promise<string> =>
      [...(await faults(one)), caseText(one)].join("\n");
    await assertNoFaults(any, { ...run, cases }, { faults, text });
  };

  test(`both engines look up what the oracle finds, in ${run.cases} random cases`, async (t) => {
    t.diagnostic(`PEMBA_SEED=${run.seed}`);
    await agreeOn(anyLookupCase, run.cases);
  });

  test("both engines look up what the oracle finds among users in hundreds of nested groups", async () => {
    await agreeOn(largeLookupCase, Math.ceil(run.cases / 40));
  });

  test("both engines look up what the oracle finds among subjects in a crowd of usersets", async () => {
    await agreeOn(crowdedLookupCase, Math.ceil(run.cases / 10));
  });

  test("both engines look up what the oracle finds where guards accept many usersets", async () => {
    await agreeOn(guardedLookupCase, run.cases);
  });

  test("both engines look up what the oracle finds where guards stand on the way", async () => {
    await agreeOn(guardedWayCase, run.cases * 2);
  });
}
