import { ALLOWED, DENIED, UNKNOWN } from "../base/verdict.ts";
import type { Plan, SearchPlan } from "../plan/plan.ts";
import type { Asked, Fault } from "./judge.ts";
import { runSearch } from "./search.ts";
import { solveNetwork, type Solution } from "./solve.ts";

/** The answer of a plan, or why there is none. */
export type Interpretation =
  | { readonly kind: "answer"; readonly allowed: boolean; readonly nodes: number }
  /** A path longer than the depth could have decided. */
  | { readonly kind: "too_deep" }
  /** A test on which the answer depends could not be judged. */
  | { readonly kind: "fault"; readonly fault: Fault }
  /** More entities lead to the answer than are looked at for one. */
  | { readonly kind: "too_large" }
  /** The answer is undefined because of a cycle through a negation. */
  | { readonly kind: "undefined"; readonly cycle: readonly string[] };

/** Answers a plan over facts. */
export function interpret(plan: Plan, asked: Omit<Asked, "onFault">): Interpretation {
  let fault: Fault | undefined;
  const judged: Asked = {
    ...asked,
    // The least, not the first: the order in which facts are met is the engine's own.
    onFault: (next) => {
      if (fault === undefined || next.message < fault.message) fault = next;
    },
  };
  const result = plan.kind === "search" ? searchSolution(plan, judged) : solveNetwork(plan, judged);
  if (result === undefined) return { kind: "too_large" };
  switch (result.verdict) {
    case ALLOWED:
    case DENIED:
      return { kind: "answer", allowed: result.verdict === ALLOWED, nodes: result.nodes };
    case UNKNOWN:
      if (result.cycle.length > 0) return { kind: "undefined", cycle: result.cycle };
      if (fault === undefined || result.isTooDeep()) return { kind: "too_deep" };
      return { kind: "fault", fault };
  }
}

function searchSolution(plan: SearchPlan, asked: Asked): Solution {
  const boundless = { ...asked, depth: Number.POSITIVE_INFINITY, onFault: () => {} };
  const isTooDeep = (): boolean => runSearch(plan, boundless).verdict !== UNKNOWN;
  return { ...runSearch(plan, asked), cycle: [], isTooDeep };
}
