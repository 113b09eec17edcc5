import fc from "fast-check";

import type { Case } from "./case.ts";
import { crowded } from "./crowd.ts";
import { anyCrowd, caseWithUsersets } from "./generate-crowd.ts";
import { largeCase } from "./generate-large.ts";
import { anyNeighbours } from "./generate.ts";
import type { LookupCase } from "./lookup-case.ts";
import { entityNames, idPool } from "./name-pool.ts";
import type { Scope } from "./scope-reach.ts";

const anyScope: fc.Arbitrary<Scope> = fc.dictionary(
  fc.constantFrom(...entityNames),
  fc.subarray([...idPool, "unheard"], { minLength: 1 }),
  { maxKeys: 2, noNullPrototype: true },
);

const scopes = fc.tuple(fc.constant({}), fc.constant({}), anyScope, anyScope);

/** Cases whose data change under the pages. */
export const anyLookupCase: fc.Arbitrary<LookupCase> = fc
  .record({
    neighbours: anyNeighbours,
    scopes,
    pageSizes: fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 1, maxLength: 3 }),
  })
  .map(({ neighbours: { ours, theirs }, ...rest }) => ({ ...ours, ...rest, meanwhile: theirs }));

/** Subjects in more usersets than a search from their end or a batch of candidates takes. */
export const crowdedLookupCase: fc.Arbitrary<LookupCase> = fc
  .record({ one: caseWithUsersets, crowd: anyCrowd, pageSize: fc.integer({ min: 1, max: 120 }) })
  .map(({ one, crowd, pageSize }) => ({
    ...crowded(withRounds(one), crowd),
    scopes: [{}],
    pageSizes: [pageSize],
    meanwhile: [],
  }));

/** Users in hundreds of groups. The oracle reads everything for each id, so few questions are left. */
export const largeLookupCase: fc.Arbitrary<LookupCase> = fc
  .record({ one: largeCase, pageSize: fc.integer({ min: 1, max: 60 }) })
  .map(({ one, pageSize }) => ({
    ...withRounds(one),
    scopes: [{}],
    pageSizes: [pageSize],
    meanwhile: [],
  }));

function withRounds(one: Case): Case {
  const rounds = one.rounds.map((round) => ({ ...round, items: round.items.slice(0, 2) }));
  return { ...one, rounds };
}
