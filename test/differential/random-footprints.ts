import assert from "node:assert/strict";
import { test } from "node:test";

import { type FootprintCase, footprintCaseText } from "./footprint-case.ts";
import { type FootprintFault, footprintFaults } from "./footprint-faults.ts";
import { FootprintTally } from "./footprint-tally.ts";
import { anyFootprintCase } from "./generate-footprints.ts";
import { assertNoFaults, randomRuns } from "./random-run.ts";

/** Of each question. */
const changesTried = 8;

/**
 * Of so many cases each kind of change comes up once at least: the rarest comes about ten times. In a shorter run
 * only the table tells.
 */
const casesForAll = 100;

/**
 * Tests that each change that alters an answer touches its footprint: what is kept of an answer is never
 * given after it. Neither an engine nor a database is needed. The run fails if a kind of change hardly
 * came, so that it cannot pass without having tested something.
 */
export function testRandomFootprints(defaultCases: number): void {
  const tally = new FootprintTally();
  const faults = (one: FootprintCase): Promise<readonly FootprintFault[]> =>
    footprintFaults(one, changesTried, tally);
  const text = async (one: FootprintCase): Promise<string> => {
    const found = await faults(one);
    const questions = found.slice(0, 1).map(({ question }) => question);
    return [...found.map(({ what }) => what), footprintCaseText({ ...one, questions })].join("\n");
  };
  for (const run of randomRuns(defaultCases)) {
    test(`a change that alters an answer touches its footprint, in ${run.cases} random cases`, async (t) => {
      t.diagnostic(`PEMBA_SEED=${run.seed}`);
      await assertNoFaults(anyFootprintCase, run, { faults, text });
    });
  }

  test("changes of every kind alter answers, touch in vain and do not touch", (t) => {
    t.diagnostic(`\n${tally.table()}`);
    assert.deepEqual(tally.missing(Math.floor(tally.cases / casesForAll)), []);
  });
}
