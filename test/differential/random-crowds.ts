import { test } from "node:test";

import fc from "fast-check";

import { disagreements } from "./agreement.ts";
import { type Case, caseText } from "./case.ts";
import { type Crowd, crowded } from "./crowd.ts";
import { fileEngines } from "./file-engines.ts";
import { anyCrowd, caseWithUsersets } from "./generate-crowd.ts";
import { assertNoFaults, randomRuns } from "./random-run.ts";

const itemsAsked = 7;

/**
 * A search from the subject's end stops after a hundred usersets, which random data never reach.
 * Here every subject stands in about that many more, or in more than that, so that what the search
 * has not found proves nothing and everything must be found from the entity's end as well.
 */
export function testRandomCrowds(defaultCases: number): void {
  const engines = fileEngines();
  for (const run of randomRuns(defaultCases)) {
    test(`oracle, memory and Postgres agree on subjects in a crowd of usersets, ${run.cases} random cases`, async (t) => {
      t.diagnostic(`PEMBA_SEED=${run.seed}`);
      const faults = ([one, crowd]: readonly [Case, Crowd]): ReturnType<typeof disagreements> =>
        disagreements(engines(), crowded(one, crowd), itemsAsked);
      await assertNoFaults(fc.tuple(caseWithUsersets, anyCrowd), run, {
        faults,
        text: async (given) => crowdText(given, await faults(given)),
      });
    });
  }
}

/** The case without its crowd, which is too long to read and follows from a line. */
function crowdText(
  [one, crowd]: readonly [Case, Crowd],
  found: Awaited<ReturnType<typeof disagreements>>,
): string {
  const rounds = found.slice(0, 1).map(({ round }) => {
    const { tuples } = round.context;
    const own = tuples.filter(({ entity }) => !/^(0|zz)\d{3}$/.test(entity.id));
    return { ...round, context: { ...round.context, tuples: own } };
  });
  const what = found.map((each) => each.what);
  return [...what, `crowd: ${JSON.stringify(crowd)}`, caseText({ ...one, rounds })].join("\n");
}
