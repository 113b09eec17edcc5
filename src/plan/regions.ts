import { componentsOf } from "../base/graph.ts";
import { runThrough } from "../base/steps.ts";
import type { SearchPlan } from "./plan.ts";

/** Regions of a search: the states that lead to each other along hops. */
export interface Regions {
  /** Lower regions first: a hop leads to the same region or to a lower number. */
  readonly numberOf: (state: number) => number;
  readonly isRecursive: (state: number) => boolean;
}

export function regionsOf({ states }: SearchPlan): Regions {
  const next = (id: number): number[] => states[id]?.hops.map(({ target }) => target) ?? [];
  const components = runThrough(componentsOf(states.keys(), next));
  const regions = new Map(
    components.flatMap(({ members, isCyclic }, number) =>
      members.map((member) => [member, { number, isCyclic }] as const),
    ),
  );
  return {
    numberOf: (state) => regions.get(state)?.number ?? 0,
    isRecursive: (state) => regions.get(state)?.isCyclic === true,
  };
}
