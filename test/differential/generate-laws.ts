import fc from "fast-check";

import { anyFormsCase } from "./generate-forms.ts";
import type { LawCase } from "./law-faults.ts";
import { lawNames } from "./laws.ts";

/** Cases with a law that is tried on them. */
export const anyLawCase: fc.Arbitrary<LawCase> = fc.record({
  one: anyFormsCase,
  law: fc.constantFrom(...lawNames),
  chances: fc.array(fc.nat({ max: 9_999 }), { minLength: 1, maxLength: 8 }),
});
