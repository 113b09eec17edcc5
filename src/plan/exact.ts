import type { Guard, SearchPlan, State } from "./plan.ts";

/** The states that are answered by yes or no at the entity itself: no hops, nothing that can fail. */
export type ExactStates = ReadonlySet<number>;

/** A guard on such a state can neither be too deep nor be unknown, so it keeps a path definite. */
export function exactStates(plan: SearchPlan): ExactStates {
  const exact = new Set<number>();
  // No guard leads back to the state that it guards, so each round finds the next ones until all are found.
  for (let size = -1; size < exact.size;) {
    size = exact.size;
    for (const state of plan.states) if (isExact(state, exact)) exact.add(state.id);
  }
  return exact;
}

/**
 * True when nothing but a path that is too long can leave the answer of the plan unknown: no test
 * can fail, and no guard can be unknown.
 */
export function onlyDepthIsUnknown(plan: SearchPlan): boolean {
  const exact = exactStates(plan);
  return plan.states.every((state) => {
    const guards = [state, ...state.tests, ...state.hops].flatMap((part) =>
      "arrival" in part ? part.arrival : part.guards,
    );
    return (
      guards.every((guard) => exact.has(guard.state)) &&
      state.tests.every(({ test }) => test.kind === "direct" || test.kind === "self")
    );
  });
}

function isExact(state: State, exact: ReadonlySet<number>): boolean {
  const all = (guards: readonly Guard[]): boolean =>
    guards.every((guard) => exact.has(guard.state));
  return (
    state.hops.length === 0 &&
    all(state.arrival) &&
    state.tests.every(
      ({ guards, test }) => (test.kind === "direct" || test.kind === "self") && all(guards),
    )
  );
}
