import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { type Engines, startEngines } from "./engines.ts";
import { formsCaseText, formsOf } from "./forms-case.ts";
import { assertForms, formsFaults } from "./forms-run.ts";
import { randomRun } from "./random-run.ts";
import { keptCases } from "./regression-cases.ts";

/*
 * All names of a schema are asked for all types of subjects in every form that there is: alone, with
 * others, with data that come with the question, of an older state, as lookups and as trees.
 */

const run = randomRun(40);

let engines: Engines;

before(async () => {
  engines = await startEngines();
});

after(() => engines.stop());

for (const kept of keptCases()) {
  test(`every form of a question is still answered as the oracle says on ${kept.file}`, async () => {
    for (const one of formsOf(kept)) {
      assert.deepEqual(await formsFaults(engines, one), [], formsCaseText(one));
    }
  });
}

test(`every form of a question is answered as the oracle says, in ${run.cases} random cases`, async (t) => {
  t.diagnostic(`PEMBA_SEED=${run.seed}`);
  const coverage = await assertForms(engines, run);
  t.diagnostic(coverage.table());
});
