import fc from "fast-check";

import { type FormsStep, formsSteps } from "./form-questions.ts";
import { anyFormsCase } from "./generate-forms.ts";

/** A schema, and what is told and asked under it, each question with all that it may answer. */
export interface FixedCase {
  readonly schema: string;
  readonly steps: readonly FormsStep[];
}

/**
 * So many cases, the same for the same seed. Pure: no engine is asked, and nothing is kept. A case
 * with a higher place does not depend on how many come after it. `formFaults` puts one to an engine.
 */
export function* casesOfSeed(seed: number, count: number): Generator<FixedCase> {
  for (const one of fc.sample(anyFormsCase, { seed, numRuns: count })) {
    yield { schema: one.schema, steps: formsSteps(one) };
  }
}
