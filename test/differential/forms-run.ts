import { Coverage } from "./coverage.ts";
import type { Engines } from "./engines.ts";
import { formFaults } from "./form-answers.ts";
import { formsSteps } from "./form-questions.ts";
import { type FormsCase, formsCaseText } from "./forms-case.ts";
import { anyFormsCase } from "./generate-forms.ts";
import { assertNoFaults, type RandomRun } from "./random-run.ts";

/** What either engine answers otherwise than the oracle, in every form of every question. */
export async function formsFaults(
  { memory, postgres }: Engines,
  one: FormsCase,
  coverage?: Coverage,
): Promise<readonly string[]> {
  const steps = formsSteps(one);
  coverage?.add(one.schema, steps);
  const stores = Object.entries({ memory, postgres });
  const found = await Promise.all(
    stores.map(async ([name, store]) =>
      (await formFaults(store, one.schema, steps)).map(({ what }) => `${name}: ${what}`),
    ),
  );
  return found.flat();
}

/** Asks both engines everything in random cases, and says what was asked. */
export async function assertForms(engines: Engines, run: RandomRun): Promise<Coverage> {
  const coverage = new Coverage();
  await assertNoFaults(anyFormsCase, run, {
    faults: (one) => formsFaults(engines, one, coverage),
    text: formsCaseText,
  });
  return coverage;
}
