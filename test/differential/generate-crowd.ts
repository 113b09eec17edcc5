import fc from "fast-check";

import { compileSchemaText } from "../../src/language/compile.ts";
import type { Case } from "./case.ts";
import { type Crowd, usersetKinds } from "./crowd.ts";
import { anyCase } from "./generate.ts";

/** Questions of each round: the oracle reads all tuples for each of them. */
const candidates = 20;

/** About as many usersets as a search from the subject's end takes, or clearly more. */
export const anyCrowd: fc.Arbitrary<Crowd> = fc.record({
  size: fc.oneof(
    { weight: 2, arbitrary: fc.constant(120) },
    { weight: 1, arbitrary: fc.integer({ min: 96, max: 102 }) },
  ),
  side: fc.constantFrom("before", "after"),
  place: fc.constantFrom("first", "first", "first", "last", "context"),
});

/** Cases in whose schemas there is a userset to stand in. */
export const caseWithUsersets: fc.Arbitrary<Case> = anyCase
  .map((one) => ({
    ...one,
    rounds: one.rounds.map((round) => ({ ...round, items: round.items.slice(0, candidates) })),
  }))
  .filter((one) => one.schemas.every((text) => usersetKinds(compileSchemaText(text)).length > 0));
