import type { CandidatePlan } from "../plan/passes/5-drop-guards.ts";
import { attributesOf, type SearchPlan, type Test } from "../plan/plan.ts";
import type { Gather } from "./gather/gather.ts";

/**
 * The relations and attributes that a plan can read, as `type#name`. Other tuples and attributes of a
 * context need not be sent.
 */
export type Footprint = ReadonlySet<string>;

export function footprintKey(entityType: string, name: string): string {
  return `${entityType}#${name}`;
}

export function searchFootprint({ states, usersets }: SearchPlan): Footprint {
  return new Set([
    ...states.flatMap(({ entityType, tests, hops }) =>
      [
        ...tests.flatMap(({ test }) => namesOf(test)),
        ...hops.flatMap(({ hop }) => hop.relations),
      ].map((name) => footprintKey(entityType, name)),
    ),
    ...usersets.map(({ entityType, relation }) => footprintKey(entityType, relation)),
  ]);
}

export function candidateFootprint({ states }: CandidatePlan): Footprint {
  return new Set(
    [...states.values()].flatMap(({ entityType, tests, hops }) =>
      [
        ...tests.flatMap(({ test }) => namesOf(test)),
        ...hops.flatMap(({ relations }) => relations),
      ].map((name) => footprintKey(entityType, name)),
    ),
  );
}

export function gatherFootprint({ types }: Gather): Footprint {
  return new Set(
    types.flatMap(({ entityType, hops, direct, listed, attributes }) =>
      [...hops.flatMap(({ relations }) => relations), ...direct, ...listed, ...attributes].map(
        (name) => footprintKey(entityType, name),
      ),
    ),
  );
}

function namesOf(test: Test): readonly string[] {
  return test.kind === "direct" ? test.relations : attributesOf(test);
}
