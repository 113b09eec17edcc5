import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { type Engines, startEngines } from "./engines.ts";
import { assertForms } from "./forms-run.ts";
import { randomRun } from "./random-run.ts";

/** forms.test.ts at length, until every construct has met every other one that it can meet. */

const run = randomRun(300);
/** From so many cases on, the rarest pair comes up but for a chance of one in a billion. */
const casesForAll = 300;

let engines: Engines;

before(async () => {
  engines = await startEngines();
});

after(() => engines.stop());

test(`every construct is asked in every form, in ${run.cases} random cases`, async (t) => {
  t.diagnostic(`PEMBA_SEED=${run.seed}`);
  const coverage = await assertForms(engines, run);
  t.diagnostic(coverage.table());
  if (run.cases >= casesForAll) assert.deepEqual(coverage.missing(), []);
});
