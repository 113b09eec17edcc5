import type { SearchPlan } from "./plan.ts";

/** Regions of a search: the states that lead to each other along hops. */
export interface Regions {
  /** Lower regions first: a hop leads to the same region or to a lower number. */
  readonly numberOf: (state: number) => number;
  readonly isRecursive: (state: number) => boolean;
}

export function regionsOf(plan: SearchPlan): Regions {
  const reached = plan.states.map((state) => reachedFrom(plan, state.id));
  const isReached = (from: number, to: number): boolean => reached[from]?.has(to) === true;
  // In the order of how many states lie ahead, itself included, a state comes after all that it
  // leads to.
  const ahead = (state: number): number =>
    (reached[state]?.size ?? 0) + (isReached(state, state) ? 0 : 1);
  const order = plan.states.map((state) => state.id).toSorted((a, b) => ahead(a) - ahead(b));
  const numbers = new Map<number, number>();
  let count = 0;
  for (const state of order) {
    const same = order.find(
      (other) => numbers.has(other) && isReached(state, other) && isReached(other, state),
    );
    const number = same === undefined ? count++ : (numbers.get(same) ?? count);
    numbers.set(state, number);
  }
  return {
    numberOf: (state) => numbers.get(state) ?? 0,
    isRecursive: (state) => isReached(state, state),
  };
}

function reachedFrom(plan: SearchPlan, start: number): Set<number> {
  const reached = new Set<number>();
  const stack = [start];
  for (let state = stack.pop(); state !== undefined; state = stack.pop()) {
    for (const { target } of plan.states[state]?.hops ?? []) {
      if (reached.has(target)) continue;
      reached.add(target);
      stack.push(target);
    }
  }
  return reached;
}
