import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import { disagreements, disagreementText } from "./agreement.ts";
import type { Case } from "./case.ts";
import type { Engines } from "./engines.ts";
import { fileEngines } from "./file-engines.ts";
import { largeCase } from "./generate-large.ts";
import { sharedCase } from "./generate-shared.ts";
import { anyCase, anyNeighbours } from "./generate.ts";
import { assertNoFaults, type RandomRun, randomRuns } from "./random-run.ts";
import { askSingly, tell, tellWrite } from "./story.ts";

/** Of each of the three rounds of a case. */
const itemsAsked = 7;

/** Tests that hold random checks of both engines against the oracle. */
export function testRandomChecks(defaultCases: number): void {
  const engines = fileEngines();
  for (const run of randomRuns(defaultCases)) testPart(engines, run);
}

function testPart(engines: () => Engines, run: RandomRun): void {
  const agreeOn = async (any: fc.Arbitrary<Case>, cases: number): Promise<void> => {
    const found = (one: Case): ReturnType<typeof disagreements> =>
      disagreements(engines(), one, itemsAsked);
    await assertNoFaults(
      any,
      { ...run, cases },
      {
        faults: found,
        text: async (one) => disagreementText(one, await found(one)),
      },
    );
  };

  test(`oracle, memory and Postgres agree on every check of ${run.cases} random cases`, async (t) => {
    t.diagnostic(`PEMBA_SEED=${run.seed}`);
    await agreeOn(anyCase, run.cases);
  });

  test("oracle, memory and Postgres agree on users in hundreds of nested groups", async () => {
    await agreeOn(largeCase, Math.ceil(run.cases / 15));
  });

  test("oracle, memory and Postgres agree on bulks whose items share a search", async () => {
    await agreeOn(sharedCase, 2 * run.cases);
  });

  test("no write into one tenant changes an answer in another", async () => {
    const property = fc.asyncProperty(anyNeighbours, async ({ ours, theirs }) => {
      for (const store of [engines().memory, engines().postgres]) {
        const mine = await tell(store, ours);
        const other = await tell(store, { schemas: ours.schemas, writes: [] });
        const rounds = ours.rounds.map((one) => ({
          ...one,
          items: one.items.slice(0, itemsAsked),
        }));
        const answers = await Promise.all(rounds.map((round) => askSingly(mine, round)));
        for (const write of theirs) await tellWrite(other, write);
        const later = await Promise.all(rounds.map((round) => askSingly(mine, round)));
        assert.deepEqual(later, answers);
      }
    });
    await fc.assert(property, { seed: run.seed, numRuns: Math.ceil(run.cases / 10) });
  });
}
