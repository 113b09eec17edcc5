import type { Steps } from "../base/steps.ts";
import { ALLOWED, DENIED, UNKNOWN } from "../base/verdict.ts";
import type { Plan, SearchPlan } from "../plan/plan.ts";
import type { EvaluationInput, TestFault } from "./judge.ts";
import type { SearchMemo } from "./search-memo.ts";
import { fastPath, runSearch } from "./search.ts";
import { solveNetwork } from "./solve.ts";

/** The answer of a plan, or why there is none. */
export type Interpretation =
  | { readonly kind: "answer"; readonly allowed: boolean; readonly nodes: number }
  /** A path longer than the depth could have decided. */
  | { readonly kind: "too_deep" }
  /** A test on which the answer depends could not be judged. */
  | { readonly kind: "fault"; readonly fault: TestFault }
  /** More entities lead to the answer than are looked at for one. */
  | { readonly kind: "too_large" }
  /** The answer is undefined because of a cycle through a negation. */
  | { readonly kind: "undefined"; readonly cycle: readonly string[] };

/**
 * Answers a plan over facts, of any number.
 *
 * @param memo what earlier searches of the plan, for the same subject over the same facts, found out
 */
export function* interpret(
  plan: Plan,
  asked: Omit<EvaluationInput, "onFault">,
  memo?: SearchMemo,
): Steps<Interpretation> {
  let fault: TestFault | undefined;
  const judged: EvaluationInput = {
    ...asked,
    // The least, not the first: the order of facts is different in each engine.
    onFault: (next) => {
      if (fault === undefined || next.message < fault.message) fault = next;
    },
  };
  const fastAnswer = plan.kind === "search" ? fastPath(plan, judged) : undefined;
  if (fastAnswer !== undefined)
    return { kind: "answer", allowed: fastAnswer === ALLOWED, nodes: 1 };
  const result = yield* plan.kind === "search"
    ? runSearch(plan, judged, memo)
    : solveNetwork(plan, judged);
  if (fault !== undefined) memo?.clear();
  if (result === undefined) return { kind: "too_large" };
  switch (result.verdict) {
    case ALLOWED:
    case DENIED:
      return { kind: "answer", allowed: result.verdict === ALLOWED, nodes: result.nodes };
    case UNKNOWN: {
      if ("cycle" in result && result.cycle.length > 0) {
        return { kind: "undefined", cycle: result.cycle };
      }
      if (fault === undefined) return { kind: "too_deep" };
      const isTooDeep =
        plan.kind === "search"
          ? yield* decidesWithoutDepth(plan, asked)
          : "isTooDeep" in result && (yield* result.isTooDeep());
      return isTooDeep ? { kind: "too_deep" } : { kind: "fault", fault };
    }
  }
}

/** Whether an answer is unknown only because the depth is not enough. */
function* decidesWithoutDepth(
  plan: SearchPlan,
  asked: Omit<EvaluationInput, "onFault">,
): Steps<boolean> {
  const boundless = { ...asked, depth: Number.POSITIVE_INFINITY, onFault: () => {} };
  return (yield* runSearch(plan, boundless)).verdict !== UNKNOWN;
}
