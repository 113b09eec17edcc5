import assert from "node:assert/strict";
import { test } from "node:test";

import { isLong } from "../support/run-length.ts";
import { disagreements, disagreementText } from "./agreement.ts";
import { fileEngines } from "./file-engines.ts";
import { formsCaseText, formsOf } from "./forms-case.ts";
import { lookupDisagreements } from "./lookup-agreement.ts";
import { formsFaults } from "./random-forms.ts";
import { lookupsAsked } from "./random-lookups.ts";
import { keptCases } from "./regression-cases.ts";

/* What failed once, asked in every way; in every form of a question by the long test. */

const engines = fileEngines();

for (const kept of keptCases()) {
  test(`the engines still agree with the oracle on ${kept.file}`, async () => {
    const found = await disagreements(engines(), kept, Number.POSITIVE_INFINITY);
    assert.equal(found.length, 0, disagreementText(kept, found));
  });

  test(`lookups still find what the oracle finds on ${kept.file}`, async () => {
    const { memory, postgres } = engines();
    const one = { scopes: [{}], pageSizes: [1, 2], meanwhile: [], ...kept };
    assert.deepEqual(await lookupDisagreements({ memory, postgres }, one, lookupsAsked), []);
  });

  if (!isLong) continue;
  test(`every form of a question is still answered as the oracle says on ${kept.file}`, async () => {
    for (const one of formsOf(kept)) {
      assert.deepEqual(await formsFaults(engines(), one), [], formsCaseText(one));
    }
  });
}
