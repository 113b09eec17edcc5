import assert from "node:assert/strict";
import { test } from "node:test";

import { Coverage } from "./coverage.ts";
import type { Engines } from "./engines.ts";
import { fileEngines } from "./file-engines.ts";
import { formFaults } from "./form-answers.ts";
import { formsSteps } from "./form-questions.ts";
import { type FormsCase, formsCaseText } from "./forms-case.ts";
import { anyFormsCase } from "./generate-forms.ts";
import { assertNoFaults, randomRuns } from "./random-run.ts";

/** From so many cases on, the rarest pair comes up but for a chance of one in ten thousand. */
const casesForAll = 200;
/**
 * From so many on, tuples are asked in every form: one case in three leaves the rarest out. In a shorter
 * run only the table tells.
 */
const casesForForms = 10;

/**
 * Tests that all names of a schema are answered for all types of subjects in every form that there
 * is: alone, with others, with data that come with the question, of an older state, as lookups and as
 * trees. A long enough run fails when something that the language has was never asked.
 */
export function testRandomForms(defaultCases: number): void {
  const engines = fileEngines();
  const coverage = new Coverage();
  const faults = (one: FormsCase): Promise<readonly string[]> =>
    formsFaults(engines(), one, coverage);
  const text = async (one: FormsCase): Promise<string> =>
    [...(await faults(one)), formsCaseText(one)].join("\n");
  for (const run of randomRuns(defaultCases)) {
    test(`every form of a question is answered as the oracle says, in ${run.cases} random cases`, async (t) => {
      t.diagnostic(`PEMBA_SEED=${run.seed}`);
      await assertNoFaults(anyFormsCase, run, { faults, text });
    });
  }

  test("the kinds of tests, guards, hops and forms meet each other", (t) => {
    t.diagnostic(`\n${coverage.table()}`);
    const isSure = (pair: string): boolean =>
      coverage.cases >= casesForAll ||
      (coverage.cases >= casesForForms && pair.startsWith("test direct / form"));
    assert.deepEqual(coverage.missing().filter(isSure), []);
  });
}

/** What either engine answers otherwise than the oracle, in every form of every question. */
export async function formsFaults(
  { memory, postgres }: Engines,
  one: FormsCase,
  coverage?: Coverage,
): Promise<readonly string[]> {
  const steps = formsSteps(one);
  coverage?.add(one.schema, steps);
  const found = await Promise.all(
    Object.entries({ memory, postgres }).map(async ([name, store]) =>
      (await formFaults(store, one.schema, steps)).map(({ what }) => `${name}: ${what}`),
    ),
  );
  return found.flat();
}
